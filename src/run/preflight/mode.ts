import { TrinityError } from '../../base/error.js'
import type { Config } from '../../config/index.js'

/** Modes that this version runs. */
export const RUN_MODES = ['both', 'colocate', 'train', 'explore', 'bench'] as const
export type RunModeName = (typeof RUN_MODES)[number]

/** Throws for a mode that is known from files and cannot be run. */
export function checkMode({ mode }: Pick<Config, 'mode'>): RunModeName {
  const known = RUN_MODES.find((one) => one === mode)
  if (known) return known
  throw new TrinityError('config/mode', `mode ${mode} is not part of this version`, {
    path: 'mode',
    hint: `use one of ${RUN_MODES.join(', ')}`,
  })
}
