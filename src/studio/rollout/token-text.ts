import { join } from 'node:path'
import { messageOf } from '../../base/error.js'
import { stepName, stepsOnDisk, weightsPath } from '../../checkpoint/layout.js'
import { DecodeStream } from '../../model/decode-stream.js'
import { Tokenizer } from '../../model/tokenizer.js'
import type { FoundRun } from '../run/find.js'
import { inside } from '../run/inside.js'
import type { TextOf } from './rollout.js'

/** Texts of tokens by the tokenizer of a run: it lies beside the weights of every checkpoint. */
export class TokenTexts {
  readonly #known = new Map<string, Promise<TextOf>>()

  async of(run: FoundRun): Promise<{ readonly textOf?: TextOf; readonly missing: readonly string[] }> {
    const [step] = await stepsOnDisk(run.path)
    if (step === undefined) {
      return { missing: ['texts of tokens: the run has no checkpoint yet, and a tokenizer is kept only there'] }
    }
    try {
      const dir = await inside(run.root, join(weightsPath(join(run.path, stepName(step))), 'tokenizer.json'))
      return { textOf: await this.#load(join(dir, '..')), missing: [] }
    } catch (error) {
      return { missing: [`texts of tokens: ${messageOf(error)}`] }
    }
  }

  #load(dir: string): Promise<TextOf> {
    const known =
      this.#known.get(dir) ?? Tokenizer.load(dir).then((tokenizer) => (ids: Int32Array) => textsOf(tokenizer, ids))
    this.#known.set(dir, known)
    return known
  }
}

/** A character whose bytes are spread over tokens is in the last one of them. */
export function textsOf(tokenizer: Tokenizer, ids: Int32Array): string[] {
  const stream = new DecodeStream(tokenizer, { skipSpecial: false })
  const texts = Array.from(ids, (id) => stream.push(id))
  const rest = stream.end()
  if (texts.length > 0) texts[texts.length - 1] += rest
  return texts
}
