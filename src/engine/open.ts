import { TrinityError } from '../error.js'
import { Registry } from '../registry.js'
import type { Engine } from './contract.js'

export type OpenEngine = (type: string) => Promise<Engine>

/** Engines by the name that `engine_type` and `trainer_type` give. Each is loaded when it is opened. */
export const engines = new Registry<() => Promise<Engine>>('engine', {
  native: async () => new (await import('./native/engine.js')).NativeEngine(),
  mock: async () => new (await import('./mock/engine.js')).MockEngine(),
})

/** Names that a configuration may hold and that this version cannot open. */
const LATER: Readonly<Record<string, string>> = {
  torch: 'PyTorch',
  verl: 'PyTorch',
  vllm: 'vLLM',
  sglang: 'SGLang',
  tinker: 'Tinker',
  external: 'OpenAI',
  openai: 'OpenAI',
}

export async function openEngine(type: string): Promise<Engine> {
  checkEngine(type)
  return engines.get(type)()
}

/** Throws for the name of an engine that cannot be opened. */
export function checkEngine(type: string): void {
  if (!engines.has(type) && Object.hasOwn(LATER, type)) {
    throw new TrinityError('config/engine', `the ${LATER[type]} engine ('${type}') is not part of this version`, {
      path: 'explorer.rollout_model.engine_type, trainer.trainer_type',
      hint: 'set both to native (this machine, no GPU needed), or leave them at auto',
    })
  }
  engines.get(type)
}
