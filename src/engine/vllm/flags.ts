import type { InferenceModelConfig } from '../../config/index.js'
import type { SampleSpec } from '../contract.js'
import { commandLine } from '../served/command-line.js'
import { WORKER_CLASS } from './api.js'

/** The arguments of a vLLM server of ours, out of our keys. */
export function vllmArgs(spec: SampleSpec, model: InferenceModelConfig): string[] {
  const flags = {
    model: spec.path,
    host: '127.0.0.1',
    'worker-extension-cls': WORKER_CLASS,
    'logprobs-mode': 'raw_logprobs',
    'enable-scale-out': true,
    'enable-prompt-tokens-details': true,
    'tensor-parallel-size': model.tensor_parallel_size,
    'pipeline-parallel-size': model.pipeline_parallel_size,
    'data-parallel-size': model.data_parallel_size,
    'enable-expert-parallel': model.enable_expert_parallel || undefined,
    dtype: model.dtype,
    'max-model-len': spec.maxModelLen,
    'gpu-memory-utilization': model.gpu_memory_utilization,
    'enable-prefix-caching': model.enable_prefix_caching,
    'enable-chunked-prefill': model.enable_chunked_prefill,
    'enforce-eager': model.enforce_eager || undefined,
    'trust-remote-code': model.trust_remote_code || undefined,
    'enable-log-requests': model.enable_log_requests || undefined,
    seed: model.seed,
  }
  return commandLine(flags, model.extra_engine_args)
}
