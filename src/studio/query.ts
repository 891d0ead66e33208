import { TrinityError } from '../base/error.js'

/** The query of a request, with errors that name the key. */
export class Query {
  readonly #values: Readonly<Record<string, readonly string[]>>

  constructor(values: Readonly<Record<string, readonly string[]>>) {
    this.#values = values
  }

  /** An empty text is none. */
  text(key: string): string | undefined {
    return this.#values[key]?.[0] || undefined
  }

  needed(key: string): string {
    return this.text(key) ?? wrong(key, 'is missing')
  }

  list(key: string, most = Number.POSITIVE_INFINITY): readonly string[] {
    const values = (this.#values[key] ?? []).filter((one) => one !== '')
    return values.length > most ? wrong(key, `is given ${values.length} times, ${most} is the most`) : values
  }

  number(key: string): number | undefined {
    const text = this.text(key)
    if (text === undefined) return undefined
    const value = Number(text)
    return Number.isFinite(value) ? value : wrong(key, `is no number: '${text}'`)
  }

  neededNumber(key: string): number {
    return this.number(key) ?? wrong(key, 'is missing')
  }

  count(key: string, least: number, most: number, otherwise: number): number {
    const value = this.number(key) ?? otherwise
    if (Number.isInteger(value) && value >= least && value <= most) return value
    return wrong(key, `must be a whole number from ${least} to ${most}`)
  }

  oneOf<T extends string>(key: string, values: readonly T[]): T | undefined {
    const text = this.text(key)
    if (text === undefined) return undefined
    return values.find((one) => one === text) ?? wrong(key, `is '${text}'; known: ${values.join(', ')}`)
  }

  flag(key: string): boolean {
    return this.oneOf(key, ['true', 'false']) === 'true'
  }
}

function wrong(key: string, what: string): never {
  throw new TrinityError('studio/query', `'${key}' in the query ${what}`, { path: key })
}
