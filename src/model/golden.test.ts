import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ReferenceModel } from '../../test/support/reference-model.js'
import { fixture, testData, tinyModels } from '../../test/support/test-data.js'
import { openModelDir } from './dir.js'

interface Golden {
  greedy: { prompt_ids: number[]; greedy_ids: number[] }[]
  scores: { tokens: number[]; temperature: number; logprobs: number[]; entropies: number[] }[]
}

/** Largest distance between two lists. */
function distance(a: number[], b: number[]): number {
  expect(a.length).toBe(b.length)
  return Math.max(...a.map((x, i) => Math.abs(x - b[i])))
}

describe.each(tinyModels)('%s read from its directory', (name) => {
  it("computes Transformers' log-probs, entropies and greedy tokens", async () => {
    const dir = await openModelDir(fixture(name))
    const model = await ReferenceModel.load(dir)
    const golden = JSON.parse(await readFile(join(fixture(name), 'golden.json'), 'utf8')) as Golden
    for (const { tokens, temperature, logprobs, entropies } of golden.scores) {
      const scores = model.scores(tokens, temperature)
      expect(distance(scores.logprobs, logprobs)).toBeLessThan(2e-5)
      expect(distance(scores.entropies, entropies)).toBeLessThan(2e-5)
    }
    for (const { prompt_ids, greedy_ids } of golden.greedy) {
      const logits = model.logits([...prompt_ids, ...greedy_ids]).slice(prompt_ids.length - 1, -1)
      expect(logits.map((row) => row.indexOf(Math.max(...row)))).toEqual(greedy_ids)
    }
    await dir.close()
  })
})

const stories = testData('models/stories260K')
describe.skipIf(stories.absent)(`stories260K${stories.note}`, () => {
  it("computes Transformers' log-probs of a real model", async () => {
    const dir = await openModelDir(join(stories.path, 'hf'))
    const model = await ReferenceModel.load(dir)
    type Case = { prompt_ids: number[]; greedy_ids: number[]; token_logprobs: number[] }
    const [first] = JSON.parse(await readFile(join(stories.path, 'golden.json'), 'utf8')) as Case[]
    const { logprobs } = model.scores([...first.prompt_ids, ...first.greedy_ids])
    expect(distance(logprobs, first.token_logprobs)).toBeLessThan(1e-4)
    await dir.close()
  })
})
