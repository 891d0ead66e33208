import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { shortPath } from '../base/file/short-path.js'
import { type SavedCheckpoint, stepsOnDisk } from '../checkpoint/index.js'
import { trainsIn } from '../config/index.js'
import { type Settings, settingsOf, settingText } from './changed.js'
import { type RunRecord, readRecords } from './record.js'

/** The settings that the newest checkpoint of a job was made with, by what its processes have written down. */
export async function settingsOfCheckpoint(dir: string): Promise<Settings | undefined> {
  const record = (await readRecords(dir)).find(({ config }) => trainsIn(config.mode))
  if (!record) return undefined
  const newest = Math.max(...(await stepsOnDisk(dir)))
  const made = await stat(join(dir, `global_step_${newest}`)).catch(() => undefined)
  // a process that took no step has made none of them, and says who has
  return made && made.mtimeMs >= Date.parse(record.began) ? recorded(record) : record.before
}

/** Another release may have written something else: then nothing is known. */
function recorded({ config }: RunRecord): Settings | undefined {
  try {
    return settingsOf(config)
  } catch {
    return undefined
  }
}

/** Ends are there to be changed; where things lie and who may listen has no part in what is learned. The model is checked elsewhere. */
const UNTOLD =
  /(^|\.)total_(steps|epochs|tokens)$|^model\.(model|critic_model)_path$|^buffer\.trainer_input\..*path$|^data_processor\..*path$|^explorer\.(db_url|listen_|proxy_|env_vars)/

/** Keys that follow others where they are not given: what they follow is told. */
const FOLLOWERS: readonly (readonly [RegExp, readonly string[]])[] = [
  [/^model\.max_(prompt|response)_tokens$/, ['model.max_model_len']],
  [/^trainer\.max_token_len_per_gpu$/, ['model.max_model_len']],
  [/\.rollout_args\.max_tokens$/, ['model.max_model_len', 'model.max_response_tokens']],
  [/\.(rollout_args\.n|repeat_times)$/, ['algorithm.repeat_times']],
  [/^buffer\.(train_batch_size|trainer_input\..*batch_size)$/, ['buffer.batch_size', 'algorithm.repeat_times']],
  [/^buffer\.trainer_input\..*batch_size$/, ['buffer.train_batch_size']],
  [/tasksets\[\d+\]\.batch_size$|^explorer\.runner_per_model$/, ['buffer.batch_size']],
]

/** Keys that are there only where somebody gives them. Others that only one of two releases knows were not changed by anybody. */
const GIVEN = /\[|args\./

/** What was set differently for the checkpoint, in words; what only follows from it is left out. */
export function otherSettings(before: Settings, now: Settings): string[] {
  const keys = [...new Set([...Object.keys(before), ...Object.keys(now)])].filter((key) => {
    const isKnown = GIVEN.test(key) || (Object.hasOwn(before, key) && Object.hasOwn(now, key))
    return isKnown && !UNTOLD.test(key) && settingText(before[key]) !== settingText(now[key])
  })
  const follows = (key: string) => {
    // a model behind rollouts takes what the model has
    const own = key.replace(/^explorer\.(rollout_model|auxiliary_models\[\d+\])\./, 'model.')
    const leaders = FOLLOWERS.filter(([pattern]) => pattern.test(key)).flatMap(([, all]) => all)
    return [...leaders, ...(own === key ? [] : [own])].some((one) => one !== key && keys.includes(one))
  }
  return keys
    .filter((key) => !follows(key))
    .map((key) => `${key} ${settingText(before[key])} → ${settingText(now[key])}`)
}

const MOST = 8

/** Says where a run goes on, and what is not as it was there. */
export function noteResume(
  { step, dir }: SavedCheckpoint,
  other: readonly string[],
  note: (text: string) => void,
): void {
  note(`resumes from step ${step}: ${shortPath(dir)}`)
  const shown = other.length > MOST ? [...other.slice(0, MOST), `and ${other.length - MOST} more`] : other
  if (shown.length > 0) note(`settings changed since then: ${shown.join(', ')}`)
}
