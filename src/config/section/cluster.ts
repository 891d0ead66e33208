import { derived, int, record, str } from '../field.js'

export const cluster = record('ClusterConfig', 'Machines and GPUs.', {
  ray_address: str(
    'Ray cluster that places workers: auto, local, host:6379, ray://host:10001, or a dashboard for jobs.',
    'auto',
  ),
  node_num: int('Number of nodes; 0 detects it.', 0, { min: 0, max: 10_000 }),
  gpu_per_node: int('GPUs of each node; 0 detects them.', 0, { min: 0, max: 256 }),
  total_gpu_num: derived(int('Nodes × GPUs.', 0)),
  rollout_gpu_num: derived(int('GPUs of the rollout engines.', 0)),
  auxiliary_model_gpu_num: derived(int('GPUs of the auxiliary models.', 0)),
  explorer_gpu_num: derived(int('Rollout and auxiliary GPUs.', 0)),
  trainer_gpu_num: derived(int('GPUs left for the trainer.', 0)),
  trainer_node_num: derived(int('Nodes the trainer spans.', 0)),
  trainer_gpu_num_per_node: derived(int('GPUs of the trainer on each node.', 0)),
})
