import { expect, it } from 'vitest'
import type { ModelInfo, Sample } from './contract.js'
import { remoteReward, remoteSampler } from './remote.js'

const info: ModelInfo = { architecture: 'mock', parameters: 1, trainableParameters: 0, vocabSize: 4, maxModelLen: 8 }
const call = { seq: 1, deadlineMs: 1000 }
const sample: Sample = {
  tokens: Int32Array.of(1, 2),
  logprobs: new Float32Array(2),
  finish: 'stop',
  versions: [],
  cachedTokens: 0,
}

it('a sampler elsewhere passes calls on, follows the version and counts tokens', async () => {
  let version = 3
  const sampler = remoteSampler(info, {
    get version() {
      return version
    },
    sample: async ({ n }) => Array.from({ length: n }, () => sample),
    score: async () => [],
  })
  expect(sampler.version).toBe(3)
  version = 4
  expect(sampler.version).toBe(4)
  const request = { prompt: Int32Array.of(1, 2, 3), n: 2, params: { temperature: 1, maxTokens: 2 } }
  expect(await sampler.sample(request, call)).toEqual([sample, sample])
  expect(sampler.stats()).toMatchObject({ promptTokens: 3, sampledTokens: 4 })
  await expect(sampler.loadWeights('dir', 1, 'finish', call)).rejects.toMatchObject({ code: 'engine/unsupported' })
})

it('so does a reward model', async () => {
  const model = remoteReward(info, async (rows) => Float32Array.from(rows, ({ length }) => length))
  expect([...(await model.reward([Int32Array.of(1, 2)], call))]).toEqual([2])
})
