import type { InferenceModelConfig } from '../../config/index.js'
import type { SampleSpec } from '../contract.js'
import { commandLine } from '../served/command-line.js'

/** The arguments of an SGLang server of ours, out of our keys. */
export function sglangArgs(spec: SampleSpec, model: InferenceModelConfig): string[] {
  return commandLine(
    {
      'model-path': spec.path,
      host: '127.0.0.1',
      // seeds of requests count
      'enable-deterministic-inference': true,
      'tp-size': model.tensor_parallel_size,
      'pp-size': model.pipeline_parallel_size,
      'dp-size': model.data_parallel_size,
      dtype: model.dtype,
      'context-length': spec.maxModelLen,
      'mem-fraction-static': model.gpu_memory_utilization,
      'disable-radix-cache': !model.enable_prefix_caching || undefined,
      'chunked-prefill-size': model.enable_chunked_prefill ? undefined : -1,
      'disable-cuda-graph': model.enforce_eager || undefined,
      'trust-remote-code': model.trust_remote_code || undefined,
      'random-seed': model.seed,
    },
    model.extra_engine_args,
  )
}
