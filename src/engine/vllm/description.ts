import type { Caps } from '../contract.js'
import type { EngineDescription } from '../description.js'
import { canServe } from '../served/can-serve.js'
import { servedIgnores } from '../served/ignores.js'
import { serverVerdict } from '../served/python.js'
import { VLLM } from './package.js'

export const vllmCaps: Caps = {
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

export const vllm: EngineDescription = {
  name: 'vllm',
  doc: 'vLLM servers over HTTP: attached by base_url, or started from your Python; they sample only',
  aliases: ['vllm_async'],
  // files that name vLLM also run where it is not installed
  replaceable: true,
  roles: ['sample'],
  caps: vllmCaps,
  weights: vllmCaps.weights,
  gpus: 'takes',
  canRun: canServe(VLLM),
  ignores: servedIgnores,
  async open(config, context) {
    const { openVllm } = await import('./engine.js')
    return openVllm(config, context)
  },
  verdict: () => serverVerdict(VLLM),
}
