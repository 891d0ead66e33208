import { Environment } from '@huggingface/jinja'

/** A value of a template while it is rendered. The package does not export its classes: they are taken from values. */
export interface Value {
  readonly type: string
  value: unknown
  readonly builtins: Map<string, Value>
  toString(): string
  __bool__(): { readonly value: boolean }
}

type ValueClass = { new (value: unknown): Value; prototype: Value }

const of = (value: unknown): ValueClass => (new Environment().set('x', value) as Value).constructor as ValueClass

export const StringValue = of('')
export const IntegerValue = of(1)
export const FloatValue = of(0.5)
export const BooleanValue = of(true)
export const NullValue = of(null)
export const UndefinedValue = of(undefined)
export const ArrayValue = of([])
export const ObjectValue = of({})
export const FunctionValue = of(() => null)

export const text = (value: string): Value => new StringValue(value)
