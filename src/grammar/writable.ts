import { TrinityError } from '../base/error.js'
import { type Format, formatPart } from './format.js'
import { Grammar, type Part } from './grammar.js'
import { type Machine, NOWHERE, type Place } from './machine.js'
import { type ByteRanges, isWhole, mergedRanges } from './regular/expression.js'

/** Characters of a format that is compiled again and again to find out which bytes it cannot do without. */
const MOST_SEARCHED = 2_000
const MOST_SHOWN = 8

/**
 * A format in the bytes that the tokens of a model can write. What needs others is left out, so that no answer is led to
 * where it could not go on. A byte that stands only inside longer tokens counts as one that can be written.
 */
export function writable(format: Format, alphabet: ByteRanges): { grammar: Grammar; root: Part } {
  const grammar = new Grammar(alphabet)
  if (isWhole(alphabet)) return { grammar, root: formatPart(grammar, format) }
  const root = possiblePart(grammar, format)
  if (root !== undefined) return { grammar, root }
  // a format that nothing fits, whatever the vocabulary, says so itself
  const whole = new Grammar()
  const part = formatPart(whole, format)
  if (!whole.possible(part)) return { grammar: whole, root: part }
  const message = `every answer in this format needs ${lack(format, alphabet)} no token of this vocabulary writes`
  // no path: clients of a server read this, and files are none of their business
  throw new TrinityError('grammar/vocabulary', message, { hint: HINT })
}

/** No token may follow here: some bytes stand only inside tokens that do not fit. */
export function stuck(machine: Machine, place: Place): TrinityError {
  const next = Array.from({ length: 256 }, (_, byte) => byte).filter((byte) => machine.next(place, byte) !== NOWHERE)
  const what =
    next.length > 0
      ? `the format needs ${listed(next, 'or')} here, and no token of this vocabulary writes it`
      : 'the answer is complete, and the model has no token that ends it'
  return new TrinityError('grammar/vocabulary', what, { hint: HINT })
}

const HINT = 'use a model whose vocabulary has all bytes, or a format that does without'

/** Undefined: nothing can be written. */
function possiblePart(grammar: Grammar, format: Format): Part | undefined {
  try {
    const part = formatPart(grammar, format)
    return grammar.possible(part) ? part : undefined
  } catch (error) {
    // whatever else is wrong with it is found again without the limits of the vocabulary
    if (error instanceof TrinityError && /^grammar\/(impossible|schema)$/.test(error.code)) return undefined
    throw error
  }
}

/** What a vocabulary lacks for a format, in words. */
function lack(format: Format, alphabet: ByteRanges): string {
  const needed = neededBytes(format, alphabet)
  const always = needed.filter((byte) => possiblePart(new Grammar(allBut(byte)), format) === undefined)
  if (always.length > 0) return `${listed(always, 'and')}, which`
  return needed.length > 0 ? `characters such as ${listed(needed, 'and')}, which` : 'characters that'
}

/** Bytes that an alphabet would need to have as well, as few as can be: with them something of the format can be written. */
function neededBytes(format: Format, alphabet: ByteRanges): number[] {
  if (JSON.stringify(format).length > MOST_SEARCHED) return []
  const bytes = new Set<number>()
  for (let i = 0; i < alphabet.length; i += 2) for (let b = alphabet[i]; b <= alphabet[i + 1]; b++) bytes.add(b)
  const lacking = PRINTED.filter((byte) => !bytes.has(byte))
  for (const byte of lacking) bytes.add(byte)
  const isPossible = () =>
    possiblePart(new Grammar(mergedRanges([...bytes].map((one) => [one, one]))), format) !== undefined
  if (!isPossible()) return []
  return lacking
    .filter((byte) => {
      bytes.delete(byte)
      if (isPossible()) return false
      bytes.add(byte)
      return true
    })
    .reverse()
}

/** The last first, so that of the digits 0 is left. */
const PRINTED = Array.from({ length: 95 }, (_, i) => 0x7e - i)

function allBut(byte: number): ByteRanges {
  return [0, byte - 1, byte + 1, 255]
}

function listed(bytes: readonly number[], last: 'and' | 'or'): string {
  const shown = bytes.slice(0, MOST_SHOWN).map(byteText)
  if (bytes.length > MOST_SHOWN) return `${shown.join(', ')}, …`
  return shown.length === 1 ? shown[0] : `${shown.slice(0, -1).join(', ')} ${last} ${shown[shown.length - 1]}`
}

function byteText(byte: number): string {
  if (byte === 0x27) return `"'"`
  return byte >= 0x20 && byte < 0x7f ? `'${String.fromCharCode(byte)}'` : `byte 0x${byte.toString(16).padStart(2, '0')}`
}
