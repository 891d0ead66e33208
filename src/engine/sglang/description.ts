import type { EngineDescription } from '../description.js'
import { canServe } from '../served/can-serve.js'
import { servedCaps } from '../served/caps.js'
import { servedIgnores } from '../served/ignores.js'
import { serverVerdict } from '../served/python.js'
import { SGLANG } from './package.js'

export const sglang: EngineDescription = {
  name: 'sglang',
  doc: 'SGLang servers over HTTP: attached by base_url, or started from your Python; they sample only',
  // files that name SGLang also run where it is not installed
  replaceable: true,
  roles: ['sample'],
  caps: servedCaps,
  weights: servedCaps.weights,
  gpus: 'takes',
  canRun: canServe(SGLANG),
  ignores: servedIgnores,
  async open(config, context) {
    const { openSglang } = await import('./engine.js')
    return openSglang(config, context)
  },
  verdict: () => serverVerdict(SGLANG),
}
