import type { Caps } from '../contract.js'
import type { EngineDescription } from '../description.js'
import { OFF_GPU } from '../gpu-keys.js'
import { tinkerOptions } from './options.js'

export const tinkerCaps: Caps = {
  train: true,
  sample: true,
  reward: false,
  heads: ['lm'],
  lora: true,
  // as the model gives them; at temperature 1, which is what may be trained, this is what they are by definition
  logprobs: 'raw',
  drawnLogprobs: false,
  promptLogprobs: true,
  streaming: false,
  abort: true,
  batchInvariant: false,
  weights: ['memory', 'checkpoint'],
  replicas: false,
}

export const tinker: EngineDescription = {
  name: 'tinker',
  doc: 'a training service that speaks the Tinker API, over HTTP: adapters of hosted models, no GPU here',
  roles: ['train', 'sample', 'score'],
  caps: tinkerCaps,
  weights: tinkerCaps.weights,
  gpus: 'none',
  claims: ({ model }) => model.tinker.enable,
  ignores: () => [...OFF_GPU, { keys: ['model.lora_configs'], why: 'trains the adapter that model.tinker describes' }],
  async open(config, context) {
    const { TinkerEngine } = await import('./engine.js')
    return new TinkerEngine(tinkerOptions(config, context.note))
  },
}
