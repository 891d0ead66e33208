import { TrinityError } from '../base/error.js'

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

/** An error in the same words. */
export function inOptions(error: unknown): unknown {
  if (!(error instanceof TrinityError) || error.constructor !== TrinityError) return error
  const { code, message, path, key, hint, cause } = error
  const said = (one: string | undefined) => (one === undefined ? undefined : words(one))
  return new TrinityError(code, words(message), { path: said(path), key, hint: said(hint), cause })
}

const escaped = (text: string) => text.replace(/[.[\]]/g, '\\$&')
