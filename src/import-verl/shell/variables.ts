/** An array value, by index or key, in order. */
export type ShellArray = Map<string, string>

/** Variables that every shell has. They are written as `${oc.env:NAME}`; all others are taken to be unset. */
export const ALWAYS_SET = new Set(['HOME', 'USER', 'PWD', 'PATH', 'HOSTNAME', 'SHELL', 'TMPDIR', 'LOGNAME'])

const ENV_REFERENCE = /\$\{oc\.env:([A-Za-z_]\w*)\}/g
const UNKNOWN = /\$\{verl\.unknown:(\d+)\}/g

/**
 * What the script has assigned so far. A value is plain text in which two things can stand for what is not known before
 * the script runs: `${oc.env:NAME}` for an environment variable and `${verl.unknown:N}` for the N-th entry of `unknown`.
 */
export class Variables {
  readonly scalars = new Map<string, string>()
  readonly arrays = new Map<string, ShellArray>()
  readonly exported = new Set<string>()
  /** Source text and line of everything whose value only a run of the script would tell. */
  readonly unknown: { source: string; line: number }[] = []
  /** Environment variables for which the script has a default, with the default that was taken. */
  readonly defaults = new Map<string, string>()
  positional: string[] | undefined
  readonly scriptName: string

  constructor(scriptName: string) {
    this.scriptName = scriptName
  }

  /** The value of a name assigned in the script, `undefined` when it would come from the environment. */
  get(name: string): string | undefined {
    return this.scalars.get(name) ?? this.arrays.get(name)?.values().next().value
  }

  set(name: string, value: string, append = false): void {
    const array = this.arrays.get(name)
    if (array) array.set('0', append ? (array.get('0') ?? '') + value : value)
    else this.scalars.set(name, append ? (this.scalars.get(name) ?? '') + value : value)
  }

  setArray(name: string, values: Iterable<[string | undefined, string]>, append: boolean): void {
    const scalar = this.scalars.get(name)
    const array: ShellArray = append ? (this.arrays.get(name) ?? new Map()) : new Map()
    if (append && scalar !== undefined) array.set('0', scalar)
    this.scalars.delete(name)
    for (const [key, value] of values) array.set(key ?? String(array.size), value)
    this.arrays.set(name, array)
  }

  unset(name: string): void {
    this.scalars.delete(name)
    this.arrays.delete(name)
  }

  /** All values as one text, to tell whether anything has changed. */
  state(): string {
    const arrays = [...this.arrays].map(([name, array]) => [name, ...array])
    return JSON.stringify([[...this.scalars], arrays, this.positional])
  }

  /** A marker for a value that cannot be known without running the script. */
  markUnknown(source: string, line: number): string {
    const at = this.unknown.findIndex((entry) => entry.source === source && entry.line === line)
    if (at >= 0) return `\${verl.unknown:${at}}`
    this.unknown.push({ source, line })
    return `\${verl.unknown:${this.unknown.length - 1}}`
  }
}

/** Text as a test in the script sees it when the environment sets nothing beyond what every shell has. */
export function assumeUnset(text: string): string | undefined {
  if (UNKNOWN.test(text)) {
    UNKNOWN.lastIndex = 0
    return undefined
  }
  let known = true
  const result = text.replace(ENV_REFERENCE, (whole, name: string) => {
    if (!ALWAYS_SET.has(name)) return ''
    known = known && text === whole
    return whole
  })
  return known ? result : undefined
}

/** Whether the text stands for something not known before the script runs. */
export function isOpen(text: string): boolean {
  return text.includes('${oc.env:') || text.includes('${verl.unknown:')
}
