/** A command that starts a veRL trainer, its words already expanded. */
export interface Launch {
  module: string
  line: number
  /** hydra overrides and options after the module. */
  words: string[]
}

const TRAINER_MODULE = /(?:^|[./])(?:main_\w+|\w*_(?:sft_)?trainer|ppo_trainer)(?:\.py)?$/
/** Commands that only show or search for the text of a launch. */
export const NOT_LAUNCHERS = new Set([
  'echo',
  'printf',
  'grep',
  'pkill',
  'pgrep',
  'cat',
  'cp',
  'ls',
  'vim',
  'sed',
  'awk',
])
const OVERRIDE =
  /^[+~]{0,2}(?:data|actor_rollout_ref|algorithm|trainer|critic|reward_model|rollout|actor|model)[./][\w./-]+=/

/** Whether a piece of source text could be part of a launch: the test that decides which branch is of interest. */
export function mentionsLaunch(text: string): boolean {
  return /(?:^|[\s./])main_(?:ppo|dapo|\w*ppo\w*)\b|\bverl\.trainer\b|\brecipe[./]\w+[./]|\bverl\.experimental\b/.test(
    text,
  )
}

/** The launch in the words of a command: `[prefix …] python3 -m MODULE overrides …` or `python3 path/main_x.py overrides …`. */
export function findLaunch(fields: string[], line: number): Launch | undefined {
  if (NOT_LAUNCHERS.has(fields[0])) return undefined
  for (let i = 0; i < fields.length; i++) {
    const isModule = fields[i] === '-m' && TRAINER_MODULE.test(fields[i + 1] ?? '')
    const isFile =
      /\.py$/.test(fields[i]) &&
      (TRAINER_MODULE.test(fields[i]) || fields.slice(i + 1).filter((f) => OVERRIDE.test(f)).length >= 3)
    const isAnyModule = fields[i] === '-m' && fields.slice(i + 2).filter((field) => OVERRIDE.test(field)).length >= 3
    if (!isModule && !isFile && !isAnyModule) continue
    const at = isFile ? i : i + 1
    const words = fields.slice(at + 1)
    // `--cfg job` and `--help` print the configuration; the launch proper is another command of the script.
    if (words.some((word) => /^(--cfg|--help|-h|--info)\b/.test(word))) return undefined
    return { module: fields[at], line, words }
  }
  return undefined
}
