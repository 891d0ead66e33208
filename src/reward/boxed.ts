import { gradeMath } from './math/grade.js'
import { closingBrace } from './math/group.js'

interface Box {
  start: number
  end: number
  content: string
}

/** What may stand between boxes that are one answer: \boxed{-2} and \boxed{1}. */
const JOINT = /^(?=.*(?:[,;&]|and|or))(?:[\s$,;&]|\\[()[\]]|\\q?quad|\\text\{|\}|and\b|or\b)*$/is
const MAX_BOXES = 64

/**
 * The content of the last box; of several joined by commas, "and" or "or" a list. A box
 * inside a box is part of it. Braces must balance. `\boxed 5$` without braces goes up to the dollar.
 */
export function lastBoxed(text: string): string | null {
  const at = startBefore(text, text.length)
  if (at < 0) return null
  let first = boxAt(text, at)
  if (first === undefined) return braceless(text, at)
  const contents = [first.content]
  for (let k = 0; k < MAX_BOXES; k++) {
    const start = startBefore(text, first.start - 1)
    const box = start < 0 ? undefined : boxAt(text, start)
    if (box === undefined) break
    if (box.end > first.start) contents[0] = box.content
    else if (first.start - box.end < 80 && JOINT.test(text.slice(box.end, first.start))) contents.unshift(box.content)
    else break
    first = box
  }
  const answers = contents.map(unboxed)
  const last = answers[answers.length - 1]!
  // \boxed{28} or \boxed{28_9}: one value, said twice.
  return answers.every((answer) => gradeMath(answer, last)) ? last : answers.join(', ')
}

function startBefore(text: string, end: number): number {
  return end < 0 ? -1 : Math.max(text.lastIndexOf('\\boxed', end), text.lastIndexOf('\\fbox', end))
}

function boxAt(text: string, start: number): Box | undefined {
  const after = start + (text.startsWith('\\boxed', start) ? 6 : 5)
  const open = after + (/^\s*/.exec(text.slice(after, after + 8))?.[0].length ?? 0)
  if (text[open] !== '{') return undefined
  const end = closingBrace(text, open)
  return end < 0 ? undefined : { start, end, content: text.slice(open + 1, end - 1).trim() }
}

function braceless(text: string, start: number): string | null {
  const after = start + (text.startsWith('\\boxed', start) ? 6 : 5)
  if (text[after] !== ' ' || text.slice(after).trimStart().startsWith('{')) return null
  const dollar = text.indexOf('$', after)
  return text.slice(after, dollar < 0 ? undefined : dollar).trim() || null
}

function unboxed(content: string): string {
  const inner = /^\\f?box(?:ed)?\s*\{/.exec(content)
  if (!inner || closingBrace(content, inner[0].length - 1) !== content.length) return content
  return unboxed(content.slice(inner[0].length, -1).trim())
}
