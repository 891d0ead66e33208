import { Draft } from '../draft.js'
import type { Setting, Settings } from '../settings.js'
import type { Value } from '../value.js'
import { VERL_DEFAULTS } from './defaults.js'

export interface Unmapped {
  key: string
  raw: string
  reason: string
}

/** A number as the computations use it, and as it is written (an environment variable stays one). */
export interface Known {
  value: number
  written: Value
  comment: string
  given: boolean
}

export interface Source {
  settings: Settings
  /** Module that the script launches, for a script. */
  module?: string
  configName?: string
  /** Text of the values that only a run of the script would tell, by index. */
  unknown: string[]
  /** From a file that spells out veRL's defaults: only what differs from them says something. */
  complete: boolean
  scaleSteps: boolean
}

/** The state of one import: what is read, what is written, what was said about it. */
export class Mapping {
  readonly draft = new Draft()
  readonly source: Source
  readonly settings: Settings
  /** Keys that a derived value has used up, with the reason why where the value itself is not written. */
  readonly taken = new Set<string>()
  readonly missing: Unmapped[] = []
  readonly covered: Unmapped[] = []
  readonly notes: string[] = []

  constructor(source: Source) {
    this.source = source
    this.settings = source.settings
  }

  /** A setting that says something: null is veRL's word for "default". */
  take(key: string): Setting | undefined {
    const setting = this.settings.get(key)
    if (setting === undefined || setting.value === null) return undefined
    this.taken.add(key)
    return setting
  }

  has(key: string): boolean {
    const setting = this.settings.get(key)
    return setting !== undefined && setting.value !== null
  }

  /** The value as text without looking at its type, for choices such as estimators. */
  word(key: string): string | undefined {
    const setting = this.take(key)
    return setting === undefined ? undefined : this.known(setting.raw.replace(/^(['"])(.*)\1$/s, '$2'), key)
  }

  text(key: string): string | undefined {
    const setting = this.take(key)
    if (setting === undefined) return undefined
    return typeof setting.value === 'string' ? this.known(setting.value, key) : setting.raw
  }

  /** A file or directory: `~` is spelled out. */
  path(key: string): string | undefined {
    const setting = this.take(key)
    if (setting === undefined) return undefined
    return this.fileName(typeof setting.value === 'string' ? setting.value : setting.raw, key)
  }

  /** A path in which a piece that is not known before a run is left as a gap to fill in: `<$1>/train.parquet`. */
  fileName(text: string, key: string): string {
    if (text.includes('${verl.unknown:')) {
      this.notes.push(`${key}=${this.describe(text)} is not known before the script runs; fill in the parts in < >`)
    }
    return expandHome(text.replace(/\$\{verl\.unknown:\d+\}/g, (piece) => `<${this.describe(piece)}>`))
  }

  bool(key: string): boolean | undefined {
    const setting = this.take(key)
    return setting === undefined ? undefined : toBoolean(setting.value)
  }

  number(key: string, fallback: number): Known {
    const setting = this.take(key)
    const otherwise = { value: fallback, written: fallback, comment: `${key}: veRL's default`, given: false }
    if (setting === undefined) return otherwise
    const value = toNumber(setting.value)
    if (value !== undefined) return { value, written: value, comment: key, given: true }
    const name = /^\$\{oc\.env:(\w+)\}$/.exec(String(setting.value))?.[1]
    if (name !== undefined) {
      this.notes.push(
        `${key} comes from the environment variable ${name}; without it ${fallback} is used, and sizes derived from it assume ${fallback}`,
      )
      return { value: fallback, written: `\${oc.env:${name},${fallback}}`, comment: key, given: true }
    }
    this.notes.push(
      `${key}=${this.describe(setting.raw)} is not a number known before the script runs; ${fallback} (veRL's default) is written`,
    )
    return otherwise
  }

  /** Removes what is not known before a run from a text, and says so. */
  known(text: string, key: string): string {
    if (!text.includes('${verl.unknown:')) return text
    this.notes.push(`${key}=${this.describe(text)} is not fully known before the script runs; check what is written`)
    const rest = text
      .replace(/\$\{verl\.unknown:\d+\}/g, '')
      .replace(/[-_./]+$/, '')
      .replace(/^[-_.]+/, '')
    return rest
  }

  /** A text with the source of its unknown pieces in place. */
  describe(text: string): string {
    return text.replace(/\$\{verl\.unknown:(\d+)\}/g, (_, index: string) => this.source.unknown[Number(index)] ?? '?')
  }

  none(key: string, reason: string): void {
    const setting = this.settings.get(key)
    if (setting === undefined || setting.value === null) return
    this.taken.add(key)
    this.missing.push({ key, raw: this.describe(setting.raw), reason })
  }

  /** A key that needs no line here because the file says the same in another way, or Trinity always does so. */
  cover(key: string, reason: string): void {
    const setting = this.settings.get(key)
    if (setting === undefined || setting.value === null) return
    this.taken.add(key)
    this.covered.push({ key, raw: this.describe(setting.raw), reason })
  }

  /** Settings below a prefix that nothing has used yet. */
  below(prefix: string): Setting[] {
    return this.settings
      .values()
      .filter((setting) => setting.key.startsWith(`${prefix}.`) && !this.taken.has(setting.key))
  }
}

export function fallbackOf(key: string): Value {
  return VERL_DEFAULTS[key]
}

export function numberFallback(key: string): number {
  return VERL_DEFAULTS[key] as number
}

export function toNumber(value: Value): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined
  if (typeof value === 'string' && /^\s*[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?\s*$/i.test(value)) return Number(value)
  return undefined
}

export function toBoolean(value: Value): boolean | undefined {
  if (typeof value === 'boolean') return value
  if (typeof value === 'number') return value !== 0
  if (typeof value !== 'string') return undefined
  if (/^(true|yes|on|1)$/i.test(value.trim())) return true
  if (/^(false|no|off|0|none|null)?$/i.test(value.trim())) return false
  return undefined
}

export function expandHome(text: string): string {
  return text.replace(/^~(?=\/|$)/, '${oc.env:HOME}')
}
