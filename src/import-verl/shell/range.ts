import { plainText, type Word } from './lexer.js'

/** Longer ones are no lists of files or settings. */
const MAX_RANGE = 1000

/** From the first number to the last, both included; undefined where one of them is no whole number. */
export function numbers(first: string, last: string, step = '1', width = 0): string[] | undefined {
  if (![first, last, step].every((text) => /^-?\d{1,15}$/.test(text))) return undefined
  const by = Number(step)
  const count = Math.floor((Number(last) - Number(first)) / by) + 1
  if (by === 0 || count > MAX_RANGE) return undefined
  return Array.from({ length: Math.max(0, count) }, (_, i) => {
    const value = Number(first) + i * by
    return value < 0 ? `-${String(-value).padStart(width - 1, '0')}` : String(value).padStart(width, '0')
  })
}

/** The words that `{1..3}`, alone or within a word, stands for; undefined where a word has no such range. */
export function expandRange(word: Word): string[] | undefined {
  const match = /^([^{}]*)\{(-?\d+)\.\.(-?\d+)(?:\.\.-?(\d+))?\}([^{}]*)$/.exec(plainText(word) ?? '')
  if (!match) return undefined
  const [, head, first, last, step = '1', tail] = match
  const size = step.replace(/^0+(?=\d)/, '')
  const width = /^-?0\d/.test(first) || /^-?0\d/.test(last) ? Math.max(first.length, last.length) : 0
  const values = numbers(first, last, Number(first) > Number(last) ? `-${size}` : size, width)
  return values?.map((value) => `${head}${value}${tail}`)
}
