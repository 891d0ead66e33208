import { Environment } from '@huggingface/jinja'
import { FloatValue, type Value } from './values.js'

/** JavaScript has one kind of number: a float without a fraction is marked while it is on its way into a template. */
const mark = '\u{F8FE3}'

const tokens = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g

/** JSON.parse that remembers which whole numbers were written as floats (1.0, 1e3). */
export function parseWithFloats(json: string): unknown {
  JSON.parse(json) // what is not JSON fails as it stands
  const marked = json.replace(tokens, (token) => {
    const float = token[0] !== '"' && /[.eE]/.test(token) && Number.isInteger(Number(token))
    return float ? JSON.stringify(mark + token) : token
  })
  return JSON.parse(marked)
}

export function installFloats(): void {
  const own = Environment.prototype.set as unknown as (this: unknown, name: string, value: unknown) => Value
  Environment.prototype.set = function (this: unknown, name: string, value: unknown) {
    const converted = own.call(this, name, value)
    unmark(converted)
    return converted
  } as unknown as typeof Environment.prototype.set
}

function unmark(value: Value): void {
  if (Array.isArray(value.value)) {
    for (const [i, one] of value.value.entries()) value.value[i] = plain(one as Value)
  } else if (value.value instanceof Map) {
    for (const [key, one] of value.value) value.value.set(key, plain(one as Value))
  }
}

function plain(value: Value): Value {
  if (value.type === 'StringValue') {
    const text = value.value as string
    return text.startsWith(mark) ? new FloatValue(Number(text.slice(mark.length))) : value
  }
  unmark(value)
  return value
}
