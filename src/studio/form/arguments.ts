import { z } from 'zod'
import type { ArgumentSchema } from '../../base/arguments.js'
import type { FormField, FormKind, Json } from '../api.js'
import { unitOf } from './unit.js'

/** The part of a JSON Schema that is read. */
interface Shape {
  readonly type?: string | readonly string[]
  readonly description?: string
  readonly default?: Json
  readonly enum?: readonly Json[]
  readonly anyOf?: readonly Shape[]
  readonly items?: Shape
  readonly properties?: Readonly<Record<string, Shape>>
}

/** The arguments that a registered function takes, as fields. */
export function argumentFields(args: ArgumentSchema | undefined): FormField[] | undefined {
  if (!(args instanceof z.ZodObject)) return undefined
  const { properties = {} } = z.toJSONSchema(args, { io: 'input', unrepresentable: 'any' }) as Shape
  return Object.entries(properties).map(([key, shape]) => fieldOf(key, shape))
}

function fieldOf(key: string, shape: Shape): FormField {
  const inner = withoutNull(shape)
  const kind = kindOf(inner)
  const doc = shape.description ?? inner.description ?? ''
  const values = inner.enum?.filter((one) => typeof one === 'string')
  return {
    key,
    kind,
    doc,
    ...(shape.default !== undefined && { default: shape.default }),
    unit: unitOf({ kind, doc }),
    values,
    ...(kind === 'list' && { item: fieldOf('', inner.items ?? {}) }),
  }
}

/** An argument that may be left open. */
function withoutNull(shape: Shape): Shape {
  const rest = shape.anyOf?.filter((one) => one.type !== 'null')
  return rest?.length === 1 ? withoutNull(rest[0]) : shape
}

const KINDS: Readonly<Record<string, FormKind>> = {
  integer: 'int',
  number: 'float',
  boolean: 'bool',
  string: 'str',
  array: 'list',
  object: 'dict',
}

function kindOf({ type, enum: values }: Shape): FormKind {
  if (values?.every((one) => typeof one === 'string')) return 'enum'
  const [only, ...others] = [type ?? []].flat().filter((one) => one !== 'null')
  return (others.length === 0 ? KINDS[only] : undefined) ?? 'any'
}
