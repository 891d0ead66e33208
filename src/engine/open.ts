import { TrinityError } from '../base/error.js'
import { Registry } from '../base/registry.js'
import type { Engine } from './contract.js'
import type { TorchOptions } from './torch/options.js'

/** What a configuration says about engines; each takes its own. */
export interface EngineOptions {
  readonly torch?: TorchOptions
}

export type OpenEngine = (type: string, options?: EngineOptions) => Promise<Engine>

/** Engines by the name that `engine_type` and `trainer_type` give. Each is loaded when it is opened. */
export const engines = new Registry<(options: EngineOptions) => Promise<Engine>>('engine', {
  native: async () => new (await import('./native/engine.js')).NativeEngine(),
  torch: openTorch,
  verl: openTorch,
  mock: async () => new (await import('./mock/engine.js')).MockEngine(),
})

async function openTorch({ torch }: EngineOptions): Promise<Engine> {
  return new (await import('./torch/engine.js')).TorchEngine(torch)
}

/** Names that a configuration may hold and that this version cannot open. */
const LATER: Readonly<Record<string, string>> = {
  vllm: 'vLLM',
  sglang: 'SGLang',
  tinker: 'Tinker',
  external: 'OpenAI',
  openai: 'OpenAI',
}

export async function openEngine(type: string, options: EngineOptions = {}): Promise<Engine> {
  checkEngine(type)
  return engines.get(type)(options)
}

/** Throws for the name of an engine that cannot be opened. */
export function checkEngine(type: string): void {
  if (!engines.has(type) && Object.hasOwn(LATER, type)) {
    throw new TrinityError('config/engine', `the ${LATER[type]} engine ('${type}') is not part of this version`, {
      path: 'explorer.rollout_model.engine_type, trainer.trainer_type',
      hint: 'set both to native (this machine, no GPU needed) or torch (GPUs), or leave them at auto',
    })
  }
  engines.get(type)
}
