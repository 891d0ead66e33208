import type { Caps } from '../contract.js'

/** What servers over HTTP can do. */
export const servedCaps: Caps = {
  train: false,
  sample: true,
  reward: false,
  heads: ['lm'],
  lora: false,
  // of servers that Trinity starts; one that runs already is asked
  logprobs: 'model',
  drawnLogprobs: false,
  promptLogprobs: true,
  streaming: true,
  abort: true,
  batchInvariant: false,
  weights: ['nccl', 'checkpoint'],
  // one sampler deals out requests to all servers
  replicas: false,
}
