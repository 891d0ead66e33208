import { join } from 'node:path'
import type { Config, ExperienceBufferConfig } from '../section/config.js'
import { resolveArguments } from './arguments.js'
import { isOffline, type Scope } from './scope.js'
import { resolveSelector } from './selector.js'

/** Kind, place and reading of an experience buffer. `main`: the one between explorer and trainer. */
export function resolveStorage(
  given: ExperienceBufferConfig,
  key: string,
  config: Config,
  scope: Scope,
  main = true,
): ExperienceBufferConfig {
  const storage = main ? storageType(given, key, config, scope) : given.storage_type
  const cache = config.buffer.cache_dir ?? ''
  return {
    ...given,
    storage_type: storage,
    path: given.path || defaultPath(storage, given.name, cache, config.mode),
    batch_size: config.buffer.train_batch_size,
    tokenizer_path: config.model.model_path || null,
    ray_namespace: config.ray_namespace,
    data_selector: resolveSelector(given.data_selector, `${key}.data_selector`, scope),
    replay_buffer: replay(given, key, scope),
    format: {
      ...given.format,
      chat_template: given.format.chat_template ?? config.model.custom_chat_template,
      enable_thinking: given.format.enable_thinking ?? config.model.enable_thinking,
    },
  }
}

function storageType(given: ExperienceBufferConfig, key: string, config: Config, scope: Scope): string {
  const asked = given.storage_type ?? (isOffline(scope) && config.mode === 'train' ? 'file' : 'queue')
  if (asked !== 'file' || config.mode === 'train') return asked
  if (config.mode === 'both' || config.mode === 'colocate') {
    scope.warn(
      'value',
      `${key}.storage_type`,
      'explorer and trainer exchange experiences in a queue, not a file; the path is kept as its record',
    )
    return 'queue'
  }
  return asked
}

/** Explorer and trainer in two processes meet in a database. */
function defaultPath(storage: string | null, name: string, cache: string, mode: Config['mode']): string {
  const apart = mode === 'explore' || mode === 'train' || mode === 'serve'
  return storage === 'sql' || (storage === 'queue' && apart)
    ? `sqlite:///${join(cache, `${name}.db`)}`
    : join(cache, `${name}.jsonl`)
}

function replay(given: ExperienceBufferConfig, key: string, scope: Scope): ExperienceBufferConfig['replay_buffer'] {
  const asked = given.replay_buffer
  if (!asked) return asked
  const component = scope.catalog.priorityFns.find(asked.priority_fn)
  if (!component) {
    const at = `${key}.replay_buffer.priority_fn`
    scope.unknownName(at, 'priority function', asked.priority_fn, scope.catalog.priorityFns)
    return asked
  }
  const args = resolveArguments(component, asked.priority_fn_args, `${key}.replay_buffer.priority_fn_args`, scope)
  return { ...asked, priority_fn_args: args }
}
