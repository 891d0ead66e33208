import { TrinityError } from '../../base/error.js'
import type { Config } from '../../config/index.js'

const KEY = 'trainer.exact_logprobs'

/**
 * Whether trainer and sampler are to give the same log-probs to the last bit. What cannot is refused here; the worker knows the
 * families of models that can. `split`: the model of the rollouts lies on several GPUs.
 */
export function exactLogprobs({ mode, trainer, explorer, model, cluster }: Config, split: boolean): boolean {
  if (!trainer.exact_logprobs) return false
  const { engine_type: sampler } = explorer.rollout_model
  const reasons: [boolean, string, string][] = [
    [
      mode !== 'train' && sampler !== 'torch',
      `rollouts by ${sampler}, which has kernels of its own`,
      'set explorer.rollout_model.engine_type to torch',
    ],
    [
      split,
      'a sampler over several GPUs, which adds in another order',
      'set explorer.rollout_model.tensor_parallel_size to 1',
    ],
    [
      cluster.trainer_gpu_num > 1,
      `a trainer on ${cluster.trainer_gpu_num} GPUs`,
      'give the trainer one GPU, e.g. mode: colocate with cluster.gpu_per_node: 1',
    ],
    [
      (model.lora_configs?.length ?? 0) > 0,
      'LoRA: the sampler adds the adapter to the weights and rounds them, training computes it apart',
      'train all weights',
    ],
  ]
  for (const [there, what, way] of reasons)
    if (there) {
      const hint = `${way}, or leave ${KEY} out`
      throw new TrinityError('engine/exact-logprobs', `equal log-probs do not go together with ${what}`, {
        path: KEY,
        hint,
      })
    }
  return true
}
