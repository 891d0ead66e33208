import { TrinityError } from '../base/error.js'
import { isWrongUse, noteDuringRun } from '../base/wrong-use.js'
import { ConfigError, type Problem } from '../config/index.js'

/** Options of `trinity train`, and the keys that they stand for. */
const OPTIONS: readonly (readonly [key: string, option: string])[] = [
  ['buffer.batch_size', '--batch'],
  ['buffer.total_steps', '--steps'],
  ['algorithm.repeat_times', '--repeat'],
  ['algorithm.optimizer.lr', '--lr'],
  ['model.max_model_len', '--length'],
  ['model.model_path', '--model'],
  ['buffer.explorer_input.taskset.path', '--data'],
  ['buffer.explorer_input.tasksets[0].path', '--data'],
]

/** Keys that are ordinary words: options where a problem is about them, and as they are in a text. */
const KEYS: Readonly<Record<string, string>> = {
  name: '--name',
  'model.max_prompt_tokens': '--length',
  'model.max_response_tokens': '--length',
  'buffer.explorer_input.eval_tasksets[0].path': '--eval',
}

/** What names keys of a configuration, said with the options of who has none. */
export function words(text: string): string {
  return OPTIONS.reduce(
    (said, [key, option]) =>
      // `--steps` may be given twice, the last counts
      said
        .replaceAll(`--set ${key}=`, `${option} `)
        .replaceAll(new RegExp(`(?<![\\w.])${escaped(key)}(?![\\w.])`, 'g'), option),
    text,
  )
}

/**
 * A problem in the same words. The configuration that the options stand for is nowhere to be seen: a place in it is none, unlike
 * one that `--set` names.
 */
export function problemInOptions({ key, message, hint, mark, ...rest }: Problem): Problem {
  const place = mark?.file.startsWith('--set') ? mark : undefined
  const option = KEYS[key] ?? words(key)
  return { ...rest, key: option, message: words(message), hint: hint && words(hint), mark: place }
}

/** An error in the same words. */
export function inOptions(error: unknown, file: string): unknown {
  if (error instanceof ConfigError) return new ConfigError(file, error.problems.map(problemInOptions))
  if (!(error instanceof TrinityError) || error.constructor !== TrinityError) return error
  const { code, message, path, key, hint, cause } = error
  const said = (one: string | undefined) => (one === undefined ? undefined : words(one))
  const same = new TrinityError(code, words(message), { path: said(path), key, hint: said(hint), cause })
  // the exit code depends on when it was found
  if (!isWrongUse(error)) noteDuringRun(same)
  return same
}

const escaped = (text: string) => text.replace(/[.[\]]/g, '\\$&')
