import { closingBrace } from './group.js'

const WRAPPERS = ['\\boxed', '\\fbox', '\\text', '\\textbf', '\\mathrm', '\\mathbf', '']

/** Takes away what surrounds an answer: $…$, \(…\), \boxed{…}, white space, a full stop. */
export function clean(text: string): string {
  let result = text.trim()
  for (let k = 0; k < 20; k++) {
    const inner = unwrap(result)
    if (inner === result) break
    result = inner
  }
  return french(result)
}

function unwrap(text: string): string {
  let result = text.trim()
  if (/[^.]\.$/.test(result)) result = result.slice(0, -1)
  if (/[,;:]$/.test(result)) result = result.slice(0, -1)
  for (const [open, close] of DELIMITERS) {
    const inner = result.slice(open.length, result.length - close.length)
    const fits = result.length >= open.length + close.length && result.startsWith(open) && result.endsWith(close)
    if (fits && !inner.includes(close)) result = inner
  }
  for (const wrapper of WRAPPERS) {
    if (!result.startsWith(`${wrapper}{`) || !result.endsWith('}')) continue
    if (closingBrace(result, wrapper.length) === result.length) return trimmedText(wrapper, result)
  }
  return result
}

function trimmedText(wrapper: string, text: string): string {
  const inner = text.slice(wrapper.length + 1, -1)
  // The words of a \text keep their mark: "m" in it is a unit, outside it is a letter.
  return wrapper === '\\boxed' || wrapper === '\\fbox' || wrapper === '' ? inner : inner.trim() === '' ? '' : text
}

const DELIMITERS = [
  ['$$', '$$'],
  ['$', '$'],
  ['\\(', '\\)'],
  ['\\[', '\\]'],
  ['**', '**'],
] as const

/** ]a, b[ is an open interval to many. */
function french(text: string): string {
  const match = /^(\\left)?([[\]])([^[\]]{1,200})(\\right)?([[\]])$/.exec(text)
  if (!match || !match[3]!.match(/[,;]/)) return text
  const body = match[3]!.replace(/\\right\s*$/, '')
  return (match[2] === '[' ? '[' : '(') + body + (match[5] === ']' ? ']' : ')')
}

/** Words as they read, without marks of LaTeX; `undefined` when formulas remain. */
export function plainText(text: string): string | undefined {
  const plain = text
    .replace(/\\(?:text|textbf|textrm|textit|mathrm|mathbf|mbox|operatorname)\b/g, '')
    .replace(/\\[ ,;:!]/g, ' ')
    .replace(/[{}$~"“”]/g, ' ')
    .replace(/\s+/g, ' ')
    .replace(/^[\s.,;:]+|[\s.,;:]+$/g, '')
  if (plain === '' || /[\\^_]/.test(plain)) return undefined
  return /[A-Za-z]{3}/.test(plain) ? plain.toLowerCase() : plain
}
