import type { EngineDescription } from '../description.js'
import { canServe } from '../served/can-serve.js'
import { servedCaps } from '../served/caps.js'
import { servedIgnores } from '../served/ignores.js'
import { serverVerdict } from '../served/python.js'
import { VLLM } from './package.js'

export const vllm: EngineDescription = {
  name: 'vllm',
  doc: 'vLLM servers over HTTP: attached by base_url, or started from your Python; they sample only',
  aliases: ['vllm_async'],
  // files that name vLLM also run where it is not installed
  replaceable: true,
  roles: ['sample'],
  caps: servedCaps,
  weights: servedCaps.weights,
  gpus: 'takes',
  canRun: canServe(VLLM),
  ignores: servedIgnores,
  async open(config, context) {
    const { openVllm } = await import('./engine.js')
    return openVllm(config, context)
  },
  verdict: () => serverVerdict(VLLM),
}
