/**
 * What a configuration key is: its type, default, allowed values and one line of description. Everything else about
 * the configuration (validation, defaults, the reference page, JSON Schema, TypeScript types) is derived from these.
 */
export type Kind = 'int' | 'float' | 'bool' | 'str' | 'enum' | 'list' | 'map' | 'dict' | 'any' | 'record'

export type Dict = { [key: string]: unknown }

export interface Field<T = unknown> {
  readonly kind: Kind
  readonly doc: string
  readonly nullable: boolean
  /** A fresh default each time; undefined where the key is required. */
  readonly initial: (() => T) | undefined
  readonly values?: readonly string[]
  /** Other spellings of a value, for example words of older versions. */
  readonly aliases?: Readonly<Record<string, string>>
  /** Accepts a text outside `values` by returning what it means; `openText` says what such texts are. */
  readonly accept?: (text: string) => string | undefined
  readonly openText?: string
  readonly min?: number
  readonly max?: number
  /** Type of the elements of a list or map. */
  readonly item?: Field
  readonly record?: RecordSpec
  /** Filled in by the program: accepted in a file, overwritten. */
  readonly derived?: boolean
  /** Accepted and without effect here; says why or what to use instead. */
  readonly noEffect?: string
  /** Read by the training engine, if at all: an engine that does not names it among its `ignores`. */
  readonly forEngine?: boolean
  /** What a null or missing value becomes, in words. */
  readonly auto?: string
  /** Never shown, sent or stored: the value, all entries of the map, or the credentials in the URL. */
  readonly secret?: 'value' | 'entries' | 'url'
}

export type Fields = Readonly<Record<string, Field>>

export interface RecordSpec<F extends Fields = Fields> {
  readonly name: string
  readonly doc: string
  readonly fields: F
  /** Unknown keys are kept with a warning instead of being an error. */
  readonly lenient?: boolean
}

export type Infer<S> =
  S extends RecordSpec<infer F>
    ? { -readonly [K in keyof F]: F[K] extends Field<infer T> ? T : never }
    : S extends Field<infer T>
      ? T
      : never

/** A section of which only some keys are given: the others are absent and mean their defaults. */
export type Given<T> = T extends readonly unknown[]
  ? Readonly<T>
  : T extends object
    ? string extends keyof T
      ? { readonly [K in keyof T]: Given<T[K]> }
      : { readonly [K in keyof T]?: Given<T[K]> }
    : T

type Options = Partial<
  Pick<Field, 'min' | 'max' | 'auto' | 'derived' | 'noEffect' | 'accept' | 'openText' | 'aliases' | 'secret'>
>

interface Scalar<T> {
  (doc: string, initial: null, options?: Options): Field<T | null>
  (doc: string, initial: T, options?: Options): Field<T>
}

function scalar<T>(kind: Kind): Scalar<T> {
  return (doc: string, initial: T | null, options: Options = {}): Field<never> =>
    ({ kind, doc, nullable: initial === null, initial: () => initial, ...options }) as unknown as Field<never>
}

export const int = scalar<number>('int')
export const float = scalar<number>('float')
export const bool = scalar<boolean>('bool')
export const str = scalar<string>('str')

/** One of a closed set of words, in any case. `accept` opens the set, for example for dotted class paths. */
export function oneOf<const V extends string>(
  values: readonly V[],
  doc: string,
  initial: NoInfer<V>,
  options?: Options & { accept?: undefined },
): Field<V>
export function oneOf<const V extends string>(
  values: readonly V[],
  doc: string,
  initial: null,
  options?: Options & { accept?: undefined },
): Field<V | null>
export function oneOf(values: readonly string[], doc: string, initial: string, options: Options): Field<string>
export function oneOf(values: readonly string[], doc: string, initial: null, options: Options): Field<string | null>
export function oneOf(values: readonly string[], doc: string, initial: string | null, options: Options = {}) {
  return { kind: 'enum', doc, nullable: initial === null, initial: () => initial, values, ...options } as Field<never>
}

export function dict(doc: string, initial: Dict | (() => Dict) = {}, options: Options = {}): Field<Dict> {
  const make = typeof initial === 'function' ? (initial as () => Dict) : () => structuredClone(initial)
  return { kind: 'dict', doc, nullable: false, initial: make, ...options }
}

export function any(doc: string, options: Options = {}): Field<unknown> {
  return { kind: 'any', doc, nullable: true, initial: () => null, ...options }
}

export function list<T>(item: Field<T>, doc: string, initial: NoInfer<T>[] = [], options: Options = {}): Field<T[]> {
  return { kind: 'list', doc, nullable: false, initial: () => structuredClone(initial), item, ...options }
}

export function map<T>(item: Field<T>, doc: string, options: Options = {}): Field<Record<string, T>> {
  return { kind: 'map', doc, nullable: false, initial: () => ({}), item, ...options }
}

export function record<const F extends Fields>(name: string, doc: string, fields: F): RecordSpec<F> {
  return { name, doc, fields }
}

/** A record of a tree that is not ours: unknown keys are kept with a warning. */
export function lenient<const F extends Fields>(name: string, doc: string, fields: F): RecordSpec<F> {
  return { name, doc, fields, lenient: true }
}

/** A key that holds a record; left out, all defaults of the record. */
export function section<F extends Fields>(spec: RecordSpec<F>, doc: string, options: Options = {}) {
  const initial = () => defaultsOf(spec)
  return { kind: 'record', doc, nullable: false, initial, record: spec, ...options } as unknown as Field<
    Infer<RecordSpec<F>>
  >
}

export function optional<T>(field: Field<T>): Field<T | null> {
  return { ...field, nullable: true } as unknown as Field<T | null>
}

/** The same key, null unless set. */
export function unset<T>(field: Field<T>, auto?: string): Field<T | null> {
  return { ...field, nullable: true, initial: () => null, auto: auto ?? field.auto } as unknown as Field<T | null>
}

/** The same key; null says the same as leaving it out. For trees that are read with `filled`. */
export function orDefault<T>(field: Field<T>): Field<T> {
  return { ...field, nullable: true }
}

export function required<T>(field: Field<T>): Field<T> {
  return { ...field, initial: undefined }
}

/** Filled in by the program. */
export function derived<T>(field: Field<T>): Field<T> {
  return { ...field, derived: true }
}

/** Accepted for the sake of existing files, without effect. */
export function idle<T>(field: Field<T>, why: string): Field<T> {
  return { ...field, noEffect: why }
}

/** Keys that are the training engine's to read; those without effect anywhere stay so. */
export function forEngine<const F extends Fields>(fields: F): F {
  const entries = Object.entries(fields).map(([key, field]) => {
    return [key, field.noEffect || field.kind === 'record' ? field : { ...field, forEngine: true }]
  })
  return Object.fromEntries(entries) as F
}

export function defaultsOf<F extends Fields>(spec: RecordSpec<F>): Infer<RecordSpec<F>> {
  const value: Dict = {}
  for (const [key, field] of Object.entries(spec.fields)) if (field.initial) value[key] = field.initial()
  return value as Infer<RecordSpec<F>>
}

/** A sparse tree with every default in its place. */
export function filled<F extends Fields>(spec: RecordSpec<F>, given: Dict): Infer<RecordSpec<F>> {
  const value: Dict = defaultsOf(spec)
  for (const [key, field] of Object.entries(spec.fields)) {
    const own = given[key] ?? undefined
    if (field.kind === 'record') value[key] = filled(field.record as RecordSpec, (own ?? {}) as Dict)
    else if (own !== undefined) value[key] = own
  }
  return value as Infer<RecordSpec<F>>
}

/** A type as it reads in the reference page: `int?`, `list[TasksetConfig]`. */
export function typeText(field: Field): string {
  const inner =
    field.kind === 'list'
      ? `list[${typeText(field.item as Field)}]`
      : field.kind === 'map'
        ? `map[${typeText(field.item as Field)}]`
        : field.kind === 'record'
          ? (field.record as RecordSpec).name
          : field.kind
  return field.nullable && field.kind !== 'any' ? `${inner}?` : inner
}
