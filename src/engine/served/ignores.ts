import type { IgnoredKeys } from '../../config/catalog.js'
import type { Config } from '../../config/index.js'

/** Keys of a model that only matter where a server is started. */
const STARTING = [
  ...['tensor_parallel_size', 'data_parallel_size', 'pipeline_parallel_size', 'enable_expert_parallel', 'dtype'],
  ...['gpu_memory_utilization', 'enable_prefix_caching', 'enable_chunked_prefill', 'enforce_eager', 'base_port'],
  ...['trust_remote_code', 'enable_log_requests', 'extra_engine_args'],
]
/** Keys of a model that belong to other interfaces of a server than those that are used. */
const UNUSED = ['weight_sync_buffer_size', 'enable_multimodal', 'enable_auto_tool_choice']

const key = (name: string) => `explorer.rollout_model.${name}`

/** What servers do not read of a configuration. */
export function servedIgnores({ explorer }: Config): readonly IgnoredKeys[] {
  const attached = explorer.rollout_model.base_url !== null
  return [
    ...(attached ? [{ keys: STARTING.map(key), why: 'uses a server that runs already' }] : []),
    { keys: UNUSED.map(key), why: 'takes and gives token ids alone' },
  ]
}
