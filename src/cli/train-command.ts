import { quoted, withSetting } from './suggestion.js'
import type { TrainFlags } from './train.js'

/** What was asked for, to be typed again. */
export function commandOf(file: string, flags: TrainFlags): string {
  return `trinity train ${quoted([file, ...optionsOf(flags)])}`
}

function optionsOf({
  data,
  model,
  set = [],
  print: _,
  fresh: __,
  yes: ___,
  dryRun: ____,
  ...rest
}: TrainFlags): string[] {
  const others = Object.entries(rest).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name}`, String(value)],
  )
  return ['--data', data, '--model', model, ...others, ...set.flatMap((one) => ['--set', one])]
}

/** The same with another value of a key of the configuration, in place of the one before. */
export function withValue(flags: TrainFlags, key: string, value: number): TrainFlags {
  const isOption = key === 'buffer.total_steps' && !flags.set?.some((one) => one.startsWith(`${key}=`))
  return isOption ? { ...flags, steps: String(value) } : { ...flags, set: withSetting(flags.set, key, value) }
}
