import { lastBoxed } from './boxed.js'
import { afterHashes, finalAnswer } from './final.js'

/**
 * boxed: the last `\boxed{…}`, or a list of the last ones in a row. answer_tag, last_answer_tag: the first or last `<answer>…</answer>`, over lines too.
 * gsm8k: the line that follows the last `####`. final: whatever the text gives as its answer, by the best sign there is.
 */
export type ExtractMode = 'boxed' | 'answer_tag' | 'last_answer_tag' | 'gsm8k' | 'final'

/** The answer in a text, or `null` when there is none. */
export function extractAnswer(text: unknown, mode: ExtractMode): string | null {
  if (typeof text !== 'string') return null
  switch (mode) {
    case 'boxed':
      return lastBoxed(text)
    case 'answer_tag':
      return tagged(text, text.indexOf(OPEN))
    case 'last_answer_tag':
      return tagged(text, text.lastIndexOf(OPEN, text.lastIndexOf(CLOSE)))
    case 'gsm8k':
      return afterHashes(text)
    case 'final':
      return finalAnswer(text)
  }
}

const OPEN = '<answer>'
const CLOSE = '</answer>'

function tagged(text: string, open: number): string | null {
  const close = open < 0 ? -1 : text.indexOf(CLOSE, open)
  return close < 0 ? null : text.slice(open + OPEN.length, close).trim()
}
