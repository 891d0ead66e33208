import { TrinityError } from '../base/error.js'
import type { failuresOf } from './batch.js'

/** What has to be changed before a run can succeed, for failures that no second run would spare. */
const FIXES: Readonly<Record<string, string>> = {
  prompt_too_long: 'raise model.max_prompt_tokens (and model.max_model_len), or shorten the prompts',
  invalid_reward:
    'a reward is a finite number; throw an error where there is none to give, which fails that rollout alone',
}

/** Every run failed. Where only the configuration, the data or the workflow can mend it, the code says so. */
export function allFailed(
  what: string,
  { runs, reasons, first }: ReturnType<typeof failuresOf>,
  { path, hint }: { path: string; hint: string },
): TrinityError {
  const names = Object.keys(reasons)
  const counts = names.map((name) => `${name} ${reasons[name]}`).join(', ')
  const fix = names.every((name) => Object.hasOwn(FIXES, name)) ? FIXES[names[0]] : undefined
  return new TrinityError(
    fix ? 'explorer/nothing-usable' : 'explorer/all-failed',
    `${what}: all ${runs} rollouts failed (${counts}). ${first.join('; ')}`,
    { path, hint: fix ?? hint },
  )
}
