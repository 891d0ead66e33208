import { HIDDEN, isHarmless, isSecretEntry, redactValue, rememberSecret, rememberUrl } from '../base/secret/index.js'
import type { Field, RecordSpec } from './field.js'
import { config as spec } from './section/config.js'

/** A configuration as it may be shown, sent or stored: what the schema or its name marks as secret is `***`. */
export function concealed<T>(config: T): T {
  return new Walk((text) => (isHarmless(text) ? text : HIDDEN), redactValue).record(spec, config) as T
}

/** Makes every secret of a configuration known to `redact`. Takes any shape: it may not have been checked yet. */
export function rememberSecrets(config: unknown): void {
  const seen = (remember: (text: string) => void) => (text: string) => {
    remember(text)
    return text
  }
  new Walk(seen(rememberSecret), seen(rememberUrl)).record(spec, config)
}

type Change = (text: string) => string

/** Goes through a configuration by its schema, and by the names of keys where the schema ends. */
class Walk {
  readonly #secret: Change
  readonly #plain: Change

  constructor(secret: Change, plain: Change) {
    this.#secret = secret
    this.#plain = plain
  }

  record(spec: RecordSpec, value: unknown): unknown {
    if (!isMap(value)) return this.#free('', value)
    return mapped(value, (key, item) => {
      const field = Object.hasOwn(spec.fields, key) ? spec.fields[key] : undefined
      return field ? this.#field(field, key, item) : this.#free(key, item)
    })
  }

  #field(field: Field, key: string, value: unknown): unknown {
    if (field.secret === 'value' || field.secret === 'entries') return this.#hide(value)
    if (field.record && isMap(value)) return this.record(field.record, value)
    if (field.kind === 'list' && Array.isArray(value)) {
      return value.map((item) => this.#field(field.item as Field, key, item))
    }
    if (field.kind === 'map' && isMap(value)) {
      return mapped(value, (_, item) => this.#field(field.item as Field, '', item))
    }
    // a known key is not secret by its name: prompt_key is a column
    return typeof value === 'string' ? this.#plain(value) : this.#free('', value)
  }

  #free(key: string, value: unknown): unknown {
    if (isSecretEntry(key, value) || ALL_SECRET.test(key)) return this.#hide(value)
    if (Array.isArray(value)) return value.map((item) => this.#free(key, item))
    if (isMap(value)) {
      // {name: Authorization, value: …}, as some clients list their headers
      const named = ['name', 'key'].some((one) => typeof value[one] === 'string' && isSecretEntry(value[one], ''))
      return mapped(value, (name, item) => (named && name === 'value' ? this.#hide(item) : this.#free(name, item)))
    }
    if (typeof value === 'number') return this.#number(value)
    return typeof value === 'string' ? this.#plain(value) : value
  }

  /** A number may be a password that was written without quotes; it stays a number unless it is one. */
  #number(value: number): unknown {
    const text = String(value)
    return text.length >= 6 && this.#plain(text) !== text ? this.#plain(text) : value
  }

  #hide(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((item) => this.#hide(item))
    if (isMap(value)) return mapped(value, (_, item) => this.#hide(item))
    return typeof value === 'string' || typeof value === 'number' ? this.#secret(String(value)) : value
  }
}

/** Mappings that are secret as a whole wherever they stand. */
const ALL_SECRET = /^(env_?vars?|environment_variables)$/i

function isMap(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === 'object' && !Array.isArray(value)
}

function mapped(
  value: Record<string, unknown>,
  change: (key: string, item: unknown) => unknown,
): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, change(key, item)]))
}
