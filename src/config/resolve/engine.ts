import type { EngineFacts, EngineRole } from '../catalog.js'
import { trainsIn } from '../mode.js'
import type { Config } from '../section/config.js'
import type { Scope } from './scope.js'

export interface Engines {
  readonly rollout: EngineFacts
  readonly trainer: EngineFacts
  /** The engine of each auxiliary model. */
  readonly auxiliary: readonly EngineFacts[]
  /** No GPU is asked for: the engines that run are named in the file and none of them is one of GPUs. */
  readonly offGpu: boolean
}

const AUTO = 'auto'
const ROLLOUT = 'explorer.rollout_model.engine_type'
const TRAINER = 'trainer.trainer_type'

/** Which engines run: as named, else the best that can run here. An engine that is not here is replaced, with a note. */
export function resolveEngines(config: Config, scope: Scope): Engines {
  const { engines } = scope.catalog
  const claimed = engines.all().find((one) => one.claims?.(config))
  const forRole = (role: EngineRole) => (claimed?.roles.includes(role) ? claimed.name : undefined)
  const words = {
    rollout: forRole('sample') ?? config.explorer.rollout_model.engine_type.toLowerCase(),
    trainer: forRole('train') ?? config.trainer.trainer_type.toLowerCase(),
    auxiliary: config.explorer.auxiliary_models.map(({ engine_type }) => engine_type.toLowerCase()),
  }
  const found = new Choice(scope, config)
  const rollout = found.named(words.rollout, ROLLOUT, 'sample')
  const trainer = found.named(words.trainer, TRAINER, 'train')
  // where one side is named, the other is the same engine if it can be: weights then stay where they are
  const result = {
    rollout: rollout ?? found.open(ROLLOUT, trainer, 'sample'),
    trainer: trainer ?? found.open(TRAINER, rollout, 'train'),
  }
  const auxiliary = words.auxiliary.map((word, i) => {
    const key = `explorer.auxiliary_models[${i}].engine_type`
    return found.named(word, key, 'sample') ?? found.open(key, rollout, 'sample')
  })
  found.tell()
  const asked = [
    ...(config.mode === 'train' ? [] : [words.rollout, ...words.auxiliary]),
    ...(trainsIn(config.mode) ? [words.trainer] : []),
  ]
  return { ...result, auxiliary, offGpu: asked.every((word) => word !== AUTO && !meansGpus(word, scope)) }
}

function meansGpus(word: string, { catalog: { engines } }: Scope): boolean {
  return engines.find(word)?.gpus === 'takes'
}

const DOES: Partial<Record<EngineRole, string>> = { sample: 'samples', train: 'trains' }

class Choice {
  readonly #scope: Scope
  readonly #config: Config
  /** Words of engines that are not here, by key. */
  readonly #missing = new Map<string, string>()
  readonly #replaced: string[] = []

  constructor(scope: Scope, config: Config) {
    this.#scope = scope
    this.#config = config
  }

  /** The engine of that name; undefined for `auto`, and for one that another has to replace. */
  named(word: string, key: string, role: EngineRole): EngineFacts | undefined {
    if (word === AUTO) return undefined
    const { engines } = this.#scope.catalog
    const own = engines.find(word)
    // an alias means the engine where it can run; its own name means it anyway
    const sure = own?.name === word && !own.replaceable
    if (own && (sure || (own.canRun?.(this.#scope.facts, this.#config) ?? true))) return this.#able(own, key, role)
    if (!own) this.#scope.unknownName(key, 'engine', word, { names: () => [AUTO, ...engines.names()] })
    else this.#missing.set(key, word)
    return undefined
  }

  /** What a file leaves open: the engine of the other side where it can do this, else the best that runs here. */
  open(key: string, other: EngineFacts | undefined, role: EngineRole): EngineFacts {
    const engine = other?.roles.includes(role) ? other : this.#best(role)
    const word = this.#missing.get(key)
    if (word !== undefined) this.#replaced.push(`${DOES[role] ?? role} with ${engine.name} in place of ${word}`)
    return engine
  }

  /** One note for all that was replaced. */
  tell(): void {
    const [key] = this.#missing.keys()
    if (key !== undefined) this.#scope.note('engine', key, `this run ${[...new Set(this.#replaced)].join(', and ')}`)
  }

  #able(engine: EngineFacts, key: string, role: EngineRole): EngineFacts {
    if (!engine.roles.includes(role)) {
      const able = this.#scope.catalog.engines.all().filter(({ roles }) => roles.includes(role))
      const hint = `engines that can: ${able.map(({ name }) => name).join(', ')}`
      this.#scope.error('engine', key, `the ${engine.name} engine does not ${role}`, hint)
    }
    return engine
  }

  #best(role: EngineRole): EngineFacts {
    const able = this.#scope.catalog.engines.all().filter(({ roles }) => roles.includes(role))
    // asked once each: an answer may take a look at the model
    const likings = able.map((one) => one.preference?.(this.#scope.facts, this.#config) ?? 0)
    return able[likings.indexOf(Math.max(...likings))]
  }
}

/** Notes the keys that the file changes and that the engines they are for do not read. */
export function noteIgnored(config: Config, engines: Engines, scope: Scope): void {
  const running = {
    ...(trainsIn(config.mode) ? { trainer: engines.trainer } : {}),
    ...(config.mode === 'train' ? {} : { explorer: engines.rollout }),
  }
  const told = new Set<string>()
  for (const engine of Object.values(running)) {
    for (const { keys, why } of engine.ignores?.(config) ?? []) {
      for (const key of keys) {
        if (told.has(key) || !scope.isChanged(key) || !concerned(key, running).every((one) => ignores(one, key)))
          continue
        told.add(key)
        scope.note('no-effect', key, `the ${concerned(key, running)[0].name} engine ${why}`)
      }
    }
  }

  function ignores(engine: EngineFacts, key: string): boolean {
    return engine.ignores?.(config).some(({ keys }) => keys.includes(key)) ?? false
  }
}

/** The engines that a key is for: that of its section, or all. */
function concerned(key: string, running: { trainer?: EngineFacts; explorer?: EngineFacts }): EngineFacts[] {
  const all = Object.values(running)
  const side = key.split('.')[0]
  if (side !== 'trainer' && side !== 'explorer') return all
  // a section of a side that does not run has no effect either, whatever the engine of the other one
  return running[side] ? [running[side]] : all
}

export function usesGpus({ rollout, trainer, auxiliary }: Engines): boolean {
  return [rollout, trainer, ...auxiliary].some(({ gpus }) => gpus === 'takes')
}
