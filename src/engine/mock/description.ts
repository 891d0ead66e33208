import type { Caps } from '../contract.js'
import type { EngineDescription } from '../description.js'
import { OFF_GPU } from '../gpu-keys.js'

export const mockCaps: Caps = {
  train: true,
  sample: true,
  reward: true,
  heads: ['lm', 'value', 'reward'],
  lora: false,
  logprobs: 'model',
  drawnLogprobs: false,
  promptLogprobs: false,
  allowedTokens: true,
  streaming: true,
  abort: true,
  batchInvariant: true,
  weights: ['memory', 'checkpoint'],
  replicas: true,
}

export const mock: EngineDescription = {
  name: 'mock',
  doc: 'a bigram with true gradients, for tests: no weights on disk, no native code',
  roles: ['train', 'sample', 'score', 'reward'],
  caps: mockCaps,
  weights: mockCaps.weights,
  gpus: 'none',
  needsModel: false,
  ignores: () => OFF_GPU,
  open: async () => new (await import('./engine.js')).MockEngine(),
}
