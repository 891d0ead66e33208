import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { evalSets } from '../../src/dataset/math/eval-sets.js'
import { createModel } from '../../src/model/create.js'
import { tempDir } from '../support/temp-dir.js'
import { Example } from './kit.js'

const example = new Example()
afterAll(() => example.close())

/** Three problems of each set, and a model that says anything. */
async function parts(): Promise<Record<string, unknown>> {
  const folder = await tempDir()
  const row = (n: number) => JSON.stringify({ question: `What is ${n} + 1?`, answer: `${n + 1}` })
  for (const { name } of evalSets) writeFileSync(join(folder, `${name}.jsonl`), [1, 2, 3].map(row).join('\n'))
  const model = join(await tempDir(), 'model')
  await createModel({ out: model, layers: 1, hidden: 16, heads: 2, maxPositions: 2048, tokenizer: { kind: 'bytes' } })
  const path = Object.fromEntries(evalSets.map((_, i) => [`buffer.explorer_input.eval_tasksets.${i}.path`, folder]))
  return { ...path, 'model.model_path': model, 'model.max_model_len': 2048, 'model.max_response_tokens': 8 }
}

describe('eval_math', { timeout: 120_000 }, () => {
  it.each(['dapo', 'qwen'])('%s.yaml writes how good the model is on each of the eight sets', async (kind) => {
    const ended = await example.run(`eval_math/${kind}.yaml`, await parts())
    expect(ended.code, ended.stderr).toBe(0)
    const file = join(example.out, `eval_math/${kind}/bench/results.json`)
    expect(ended.stdout).toContain(file)
    const { results } = JSON.parse(readFileSync(file, 'utf8'))
    expect(results).toHaveLength(1)
    expect(Object.keys(results[0].tasksets)).toEqual(evalSets.map(({ name }) => name))
    for (const { score, metric, tasks, failed_runs, metrics } of Object.values<Record<string, unknown>>(
      results[0].tasksets,
    )) {
      expect([metric, tasks, failed_runs]).toEqual(['accuracy/mean@1', 3, 0])
      expect(score).toBe(0)
      expect(metrics).toMatchObject({ 'attempts/mean@1': 1, 'reward/mean@1': 0 })
    }
  })
})
