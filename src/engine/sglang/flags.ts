import type { InferenceModelConfig } from '../../config/index.js'
import { cudaDevices } from '../../machine/python/gpus.js'
import type { SampleSpec } from '../contract.js'
import { commandLine } from '../served/command-line.js'
import { LOADER } from './api.js'
import { CONTEXT_ROOM } from './wire.js'

/** What runs without kernels for a kind of processor. */
const ON_PROCESSORS = { device: 'cpu', 'attention-backend': 'torch_native' }

/** The arguments of an SGLang server of ours, out of our keys. */
export function sglangArgs(spec: SampleSpec, model: InferenceModelConfig): string[] {
  return commandLine(
    {
      'model-path': spec.path,
      host: '127.0.0.1',
      ...(cudaDevices() === 0 && ON_PROCESSORS),
      'custom-weight-loader': LOADER,
      // the one that draws by the seed of each request
      'sampling-backend': 'pytorch',
      'tp-size': model.tensor_parallel_size,
      'pp-size': model.pipeline_parallel_size,
      'dp-size': model.data_parallel_size,
      dtype: model.dtype,
      'context-length': spec.maxModelLen && spec.maxModelLen + CONTEXT_ROOM,
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
