import { TrinityError } from '../base/error.js'
import { parseHydraValue, type Value } from './value.js'

export interface Setting {
  key: string
  value: Value
  /** Text as it stands in the script, for keys that want text where the value looks like a number. */
  raw: string
}

/** veRL settings by dotted key, in the order in which they were last set. */
export class Settings {
  readonly #byKey = new Map<string, Setting>()

  /** A map value becomes one setting per leaf: `a={b:1}` is `a.b=1`. */
  set(key: string, value: Value, raw?: string): void {
    if (value !== null && typeof value === 'object' && !Array.isArray(value)) {
      const entries = Object.entries(value)
      for (const [name, inner] of entries) this.set(`${key}.${name}`, inner)
      if (entries.length > 0) return
    }
    this.#byKey.delete(key)
    this.#byKey.set(key, { key, value, raw: raw ?? (typeof value === 'string' ? value : JSON.stringify(value)) })
  }

  get(key: string): Setting | undefined {
    return this.#byKey.get(key)
  }

  has(key: string): boolean {
    return this.#byKey.has(key)
  }

  /** Removes a key and everything below it; false when there was nothing. */
  remove(key: string): boolean {
    const doomed = [...this.#byKey.keys()].filter((name) => name === key || name.startsWith(`${key}.`))
    for (const name of doomed) this.#byKey.delete(name)
    return doomed.length > 0
  }

  values(): Setting[] {
    return [...this.#byKey.values()]
  }

  get size(): number {
    return this.#byKey.size
  }
}

const OVERRIDE = /^(~|\+\+|\+)?([A-Za-z_][\w.@/:$-]*)(?:=([\s\S]*))?$/

/** The hydra arguments of a launch: overrides into settings, everything else into notes. */
export function readOverrides(words: string[]): { settings: Settings; notes: string[]; configName?: string } {
  const settings = new Settings()
  const notes: string[] = []
  let configName: string | undefined
  for (let i = 0; i < words.length; i++) {
    const word = words[i]
    const option = /^(--config-path|--config-name|--config-dir|-cn|-cp|-cd)(?:=([\s\S]*))?$/.exec(word)
    if (option) {
      const value = option[2] ?? words[++i] ?? ''
      if (option[1] === '--config-name' || option[1] === '-cn') configName = value
      continue
    }
    if (word === '' || word === '-' || /^[&|]+$/.test(word)) continue
    const match = OVERRIDE.exec(word)
    if (!match || (match[3] === undefined && match[1] !== '~')) {
      notes.push(`'${word}' is not a hydra override; it was ignored`)
      continue
    }
    const [, sign, name, text] = match
    const key = name.replaceAll('/', '.').replace(/^\.+/, '')
    if (sign === '~') {
      settings.remove(key)
      notes.push(`~${key} removes a key from veRL's configuration; nothing is written for it`)
    } else if (name.includes('@')) notes.push(`'${word}' selects a hydra configuration group, which has no counterpart`)
    else settings.set(key, parseHydraValue(text), text)
  }
  return { settings, notes, configName }
}

/** A file name or a reason to stop when there is nothing to import. */
export function requireSettings(settings: Settings, what: string): void {
  if (settings.size > 0) return
  throw new TrinityError('verl/no-settings', `${what} sets no veRL key`, {
    path: what,
    hint: 'give a script that runs `python3 -m verl.trainer.main_ppo key=value …`, or a veRL YAML file',
  })
}
