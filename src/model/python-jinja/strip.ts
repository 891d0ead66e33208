import { FunctionValue, StringValue, text, type Value } from './values.js'

/** What Python's str.strip takes away by itself: Unicode's blanks and the four separators of ASCII. */
const isBlank = (c: string) => /\p{White_Space}/u.test(c) || (c >= '\x1c' && c <= '\x1f')

/** str.strip, str.lstrip and str.rstrip: `characters` is a set of them; without it, blanks. */
export function strip(from: string, characters: string | undefined, left: boolean, right: boolean): string {
  const set = characters === undefined ? undefined : new Set(characters)
  const goes = (character: string) => (set ? set.has(character) : isBlank(character))
  const all = [...from]
  let start = 0
  let end = all.length
  while (left && start < end && goes(all[start])) start++
  while (right && end > start && goes(all[end - 1])) end--
  return all.slice(start, end).join('')
}

/** The package's own leave their argument unread, so that Qwen3's answers lost the indent of their first line. */
export function installStrip(): void {
  const own = Object.getOwnPropertyDescriptor(StringValue.prototype, 'builtins')?.get as (
    this: Value,
  ) => Map<string, Value>
  const done = new WeakSet<Map<string, Value>>()
  Object.defineProperty(StringValue.prototype, 'builtins', {
    configurable: true,
    get(this: Value) {
      const builtins = own.call(this)
      if (done.has(builtins)) return builtins
      const method = (left: boolean, right: boolean) =>
        new FunctionValue(([given]: Value[]) => {
          const characters = given?.type === 'StringValue' ? (given.value as string) : undefined
          return text(strip(this.value as string, characters, left, right))
        })
      builtins.set('strip', method(true, true)).set('lstrip', method(true, false)).set('rstrip', method(false, true))
      done.add(builtins)
      return builtins
    },
  })
}
