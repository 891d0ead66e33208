import { realpath } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { messageOf } from '../../base/error.js'
import { stepName, stepsOnDisk, weightsPath } from '../../checkpoint/layout.js'
import { DecodeStream } from '../../model/decode-stream.js'
import type { Tokenizer } from '../../model/tokenizer.js'
import { readRecords } from '../../run/record.js'
import type { FoundRun } from '../run/find.js'
import { inside } from '../run/inside.js'
import type { TextOf } from './rollout.js'

/** Texts of tokens by the tokenizer of a run: beside the weights of a checkpoint, or where its model lies. */
export class TokenTexts {
  readonly #folders: readonly string[]
  readonly #known = new Map<string, Promise<TextOf>>()

  /** Nothing outside these is read. */
  constructor(folders: readonly string[]) {
    this.#folders = folders
  }

  async of(run: FoundRun): Promise<{ readonly textOf?: TextOf; readonly missing: readonly string[] }> {
    const steps = await stepsOnDisk(run.path)
    const [record] = await readRecords(run.path)
    const model = record?.config.model?.model_path
    const dirs = steps.slice(0, 1).map((step) => weightsPath(join(run.path, stepName(step))))
    if (typeof model === 'string' && model !== '') dirs.push(resolve(model))
    for (const dir of dirs) {
      for (const root of [run.root, ...this.#folders]) {
        const file = await realpath(root)
          .then((real) => inside(real, join(dir, 'tokenizer.json')))
          .catch(() => undefined)
        if (file === undefined) continue
        try {
          return { textOf: await this.#load(dirname(file)), missing: [] }
        } catch (error) {
          return { missing: [`texts of tokens: ${messageOf(error)}`] }
        }
      }
    }
    const where = model ? `; start Studio with ${model} as one more folder` : ''
    return { missing: [`texts of tokens: the run has no checkpoint with a tokenizer${where}`] }
  }

  #load(dir: string): Promise<TextOf> {
    const known = this.#known.get(dir) ?? loadTexts(dir)
    this.#known.set(dir, known)
    return known
  }
}

/** Tokenizers are loaded with the first rollout that somebody looks at: Studio starts without them. */
export async function loadTexts(dir: string): Promise<TextOf> {
  const { Tokenizer } = await import('../../model/tokenizer.js')
  const tokenizer = await Tokenizer.load(dir)
  return (ids) => textsOf(tokenizer, ids)
}

/** A character whose bytes are spread over tokens is in the last one of them. */
export function textsOf(tokenizer: Tokenizer, ids: Int32Array): string[] {
  const stream = new DecodeStream(tokenizer, { skipSpecial: false })
  const texts = Array.from(ids, (id) => stream.push(id))
  const rest = stream.end()
  if (texts.length > 0) texts[texts.length - 1] += rest
  return texts
}
