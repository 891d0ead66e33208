import type { Value } from './values.js'

/** Longest `range`, as in Jinja2's sandbox. */
export const MAX_RANGE = 100_000
/** Steps of one rendering: nodes of the template that are evaluated, and work on texts and lists in proportion. */
export const MAX_STEPS = 1_000_000
/** Longest text that a rendering may make, its output included, in characters. */
export const MAX_TEXT = 1 << 24

/** Characters per step of texts that are made: bounds the memory of a rendering. */
const MADE = 7
/** Characters per step of texts that are read. */
const READ = 10
/** Entries per step of lists that are copied. */
const COPIED = 3
/** Longest pattern that a search finds in linear time. */
const PATTERN = 250

/** A template exceeded a limit while it was rendered. */
export class TemplateLimitError extends Error {}

/** Outside of a rendering values may be printed too; nothing there runs long. */
const UNLIMITED = 2 ** 30
let left = UNLIMITED

/** Runs one rendering with a budget of its own. Renderings do not nest. */
export function withBudget<T>(render: () => T): T {
  left = MAX_STEPS
  try {
    return render()
  } finally {
    left = UNLIMITED
  }
}

/** Takes steps from the budget of the rendering. Throws `TemplateLimitError` if it is exhausted. */
export function spend(steps: number): void {
  left -= steps
  if (left < 0) throw new TemplateLimitError(`more than ${MAX_STEPS.toLocaleString('en')} steps`)
}

/** Takes the steps of a text that is about to be made. */
export function spendText(length: number): void {
  if (length > MAX_TEXT) throw tooLong()
  spend(length >> MADE)
}

const tooLong = () => new TemplateLimitError(`a text of more than ${MAX_TEXT >> 20} MB`)

/** Takes the steps of reading a text. */
export const spendRead = (length: number): void => spend(length >> READ)

/** Takes the steps of copying a list. */
export const spendCopy = (entries: number): void => spend(entries >> COPIED)

/** Takes the steps of searching a pattern. Searches for long patterns compare every character many times at worst. */
export function spendSearch(length: number, pattern: number): void {
  spend((length >> READ) * (pattern > PATTERN ? pattern : 1))
}

/** Takes the steps of writing a value, with all that it holds, as text. Returns their number. */
export function spendDeep(value: Value): number {
  const steps = deepSteps(value)
  if (steps > MAX_TEXT >> MADE) throw tooLong()
  return steps
}

function deepSteps({ value }: Value): number {
  let steps = 1
  if (typeof value === 'string') steps += value.length >> MADE
  spend(steps)
  if (Array.isArray(value)) for (const one of value) steps += deepSteps(one as Value)
  else if (value instanceof Map) for (const one of value.values()) steps += deepSteps(one as Value)
  return steps
}

/** `range` as Python has it. Throws if it is longer than `MAX_RANGE`. */
export function range(from: number, to?: number, step = 1): number[] {
  const [start, stop] = to === undefined ? [0, from] : [from, to]
  if (step === 0) throw new Error('range() step must not be zero')
  const count = Math.max(0, Math.ceil((stop - start) / step)) || 0
  if (count > MAX_RANGE) throw new TemplateLimitError(`a range of more than ${MAX_RANGE.toLocaleString('en')} numbers`)
  spend(count)
  return Array.from({ length: count }, (_, i) => start + i * step)
}
