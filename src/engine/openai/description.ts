import type { Caps } from '../contract.js'
import type { EngineDescription } from '../description.js'
import { OFF_GPU } from '../gpu-keys.js'

export const openaiCaps: Caps = {
  train: false,
  sample: true,
  reward: false,
  heads: ['lm'],
  lora: false,
  // of the tokens that it drew, where the service gives them
  logprobs: 'raw',
  drawnLogprobs: false,
  promptLogprobs: false,
  streaming: true,
  abort: true,
  batchInvariant: false,
  weights: [],
  replicas: false,
}

/** `extra_engine_args` are fields of each request here. */
const READ = 'explorer.rollout_model.extra_engine_args'

export const openai: EngineDescription = {
  name: 'openai',
  aliases: ['external'],
  doc: 'models of services that speak the OpenAI chat API: judges, and what mode bench evaluates',
  roles: ['sample'],
  caps: openaiCaps,
  weights: [],
  gpus: 'none',
  needsModel: false,
  hosted: true,
  claims: ({ model }) => model.external_model.enable,
  ignores: () => OFF_GPU.map(({ keys, why }) => ({ keys: keys.filter((key) => key !== READ), why })),
  open: async (_, { note }) => (await import('./engine.js')).HostedEngine.open(note),
}
