import { TrinityError } from '../base/error.js'
import { Registry } from '../base/registry.js'
import type { Config, EngineLookup } from '../config/index.js'
import type { Engine } from './contract.js'
import type { EngineContext, EngineDescription } from './description.js'
import { mock } from './mock/description.js'
import { native } from './native/description.js'
import { openai } from './openai/description.js'
import { sglang } from './sglang/description.js'
import { tinker } from './tinker/description.js'
import { torch } from './torch/description.js'
import { vllm } from './vllm/description.js'

/** Takes only engines that describe themselves whole. */
class EngineRegistry extends Registry<EngineDescription> {
  override add(name: string, engine: EngineDescription, options?: { replace?: boolean }): this {
    checkDescription(name, engine)
    return super.add(name, engine, options)
  }
}

/**
 * Engines by the name that `engine_type` and `trainer_type` give. Each is loaded when it is opened.
 * @example
 * import { engines, NativeEngine } from 'trinity-rft/engine'
 *
 * engines.add('mine', { ...engines.get('native'), name: 'mine', doc: 'mine', open: async () => new NativeEngine() })
 */
export const engines: Registry<EngineDescription> = new EngineRegistry('engine', {
  native,
  torch,
  openai,
  vllm,
  sglang,
  tinker,
  mock,
})

/** Everything that the program asks of an engine before it is open must be there, under the name it is registered by. */
function checkDescription(name: string, engine: EngineDescription): void {
  const { roles, caps, weights, gpus } = engine
  const missing = Object.entries({ doc: engine.doc, roles, caps, weights, gpus, open: engine.open })
  const absent = missing.flatMap(([key, value]) => (value === undefined ? [key] : []))
  if (engine.name === name && absent.length === 0) return
  const text = absent.length > 0 ? `lacks ${absent.join(', ')}` : `is described as '${engine.name}'`
  throw new TrinityError('registry/engine', `the engine '${name}' ${text}`, {
    path: name,
    hint: `describe it as engines.add('${name}', { ...engines.get('native'), name: '${name}', open })`,
  })
}

/** Opens an engine for a configuration. */
export type OpenEngine = (name: string, config: Config, context: EngineContext) => Promise<Engine>

export const openEngine: OpenEngine = (name, config, context) => engineNamed(name).open(config, context)

/** The engine of that name; throws for one that is not here. */
export function engineNamed(name: string): EngineDescription {
  return engines.get(name)
}

/** The engines as a configuration is checked against them. */
export const engineLookup: EngineLookup = {
  kind: engines.kind,
  names: () => engines.names(),
  find: (word) => engines.find(nameOf(word)) ?? all().find(({ aliases }) => aliases?.includes(word)),
  all,
}

/** Every word that begins with vllm has always meant vLLM. */
function nameOf(word: string): string {
  return word.startsWith(vllm.name) ? vllm.name : word
}

function all(): EngineDescription[] {
  return engines.names().map((name) => engines.get(name))
}
