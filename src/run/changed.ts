import type { Config } from '../config/index.js'
import { concealed } from '../config/secret.js'

/** What decides on what a run learns. Where it writes and how it is shown may change. */
const SECTIONS = ['algorithm', 'model', 'buffer', 'explorer', 'trainer', 'synchronizer', 'data_processor'] as const

/** Keys and values of a configuration as they may be stored. */
export type Settings = Readonly<Record<string, unknown>>

export function settingsOf(config: Config): Settings {
  const shown = concealed(config)
  return Object.fromEntries(SECTIONS.flatMap((section) => flat(section, shown[section])))
}

function flat(key: string, value: unknown): [string, unknown][] {
  if (typeof value !== 'object' || value === null) return [[key, value]]
  return Object.entries(value).flatMap(([name, one]) =>
    flat(Array.isArray(value) ? `${key}[${name}]` : `${key}.${name}`, one),
  )
}

/** What has another value now, in words. */
export function changed(before: Settings, now: Settings): string[] {
  const keys = new Set([...Object.keys(before), ...Object.keys(now)])
  return [...keys].flatMap((key) => {
    const [was, is] = [settingText(before[key]), settingText(now[key])]
    return was === is ? [] : [`${key}: ${was} → ${is}`]
  })
}

export function settingText(value: unknown): string {
  return value === undefined ? 'unset' : JSON.stringify(value)
}
