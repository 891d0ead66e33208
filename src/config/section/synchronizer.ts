import { bool, derived, idle, int, oneOf, record, str } from '../field.js'

export const SYNC_METHODS = ['nccl', 'checkpoint', 'memory'] as const
export const SYNC_ALIASES = { online: 'nccl', offline: 'checkpoint' }
const SYNC_STYLES = ['fixed', 'trainer_driven', 'explorer_driven', 'fully_async'] as const

export const synchronizer = record('SynchronizerConfig', 'When and how new weights reach the explorer.', {
  sync_method: oneOf(
    SYNC_METHODS,
    'How weights are transferred: directly, by checkpoint files, or in memory.',
    'nccl',
    {
      aliases: SYNC_ALIASES,
    },
  ),
  sync_style: oneOf(SYNC_STYLES, 'Which side decides when.', 'fixed', {
    aliases: { dynamic_by_trainer: 'trainer_driven', dynamic_by_explorer: 'explorer_driven' },
  }),
  sync_interval: int('Steps between updates.', 1, { min: 1 }),
  explorer_sync_interval: int('Explore steps between updates.', null, { min: 1, auto: 'sync_interval' }),
  trainer_sync_interval: int('Train steps between updates.', null, { min: 1, auto: 'sync_interval' }),
  sync_offset: int('Steps the explorer runs ahead.', 0, { min: 0 }),
  sync_timeout: int('Seconds an update may take.', 3600, { min: 1 }),
  group_name: str('Name of the NCCL group.', 'rollout_weight_sync'),
  wait_for_checkpoint: idle(bool('Old key.', false), 'an update by checkpoint always waits for it'),
  explorer_world_size: derived(int('GPUs of the rollout engines.', null)),
  ray_namespace: derived(str('Namespace of the run.', '')),
})
