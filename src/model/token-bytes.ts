import { TrinityError } from '../base/error.js'
import { isJsonObject, type JsonObject } from '../base/file/json-file.js'

/**
 * How tokens turn into text, as bytes: token by token, so that a stream can be decoded without looking back, plus what
 * is cut from the start of a whole text.
 */
export interface TokenDecoder {
  bytes(token: string): Uint8Array
  /** Leading characters to drop from a decoded text: up to `count` times `content`. */
  readonly strip?: { readonly content: number; readonly count: number }
  /** Without a decoder, tokens are words: a space stands between them. */
  readonly between: string
  /** A run of such tokens is text only where all of its bytes together are. */
  isByte(token: string): boolean
}

const utf8 = new TextEncoder()

/** Reads the `decoder` entry of tokenizer.json. */
export function parseTokenDecoder(decoder: unknown, path: string): TokenDecoder {
  const steps = flatten(decoder)
  const maps: ((token: string) => string | Uint8Array)[] = []
  let strip: TokenDecoder['strip']
  let fused = false
  let fallback = false
  for (const step of steps) {
    switch (step.type) {
      case 'ByteLevel':
        maps.push(byteLevel)
        break
      case 'ByteFallback':
        maps.push(byteFallback)
        fallback = true
        break
      case 'Replace': {
        const from = isJsonObject(step.pattern) ? step.pattern.String : undefined
        if (typeof from !== 'string' || typeof step.content !== 'string') throw unknown(step, path)
        const { content } = step
        maps.push((token) => token.replaceAll(from, content))
        break
      }
      case 'Metaspace': {
        const mark = typeof step.replacement === 'string' ? step.replacement : '▁'
        maps.push((token) => token.replaceAll(mark, ' '))
        if (step.prepend_scheme !== 'never' && step.add_prefix_space !== false) strip = { content: 0x20, count: 1 }
        break
      }
      case 'Fuse':
        fused = true
        break
      case 'Strip': {
        // Before Fuse it would strip every token; no model family does that.
        const { content, start, stop } = step
        const plain = typeof content === 'string' && /^[\0-\x7f]$/.test(content) && Number.isSafeInteger(start)
        if (!fused || !plain || stop) throw unknown(step, path)
        strip = { content: content.charCodeAt(0), count: start as number }
        break
      }
      default:
        throw unknown(step, path)
    }
  }
  return {
    strip,
    between: steps.length === 0 ? ' ' : '',
    isByte: (token) => fallback && typeof byteFallback(token) !== 'string',
    bytes: (token) => chain(maps, token),
  }
}

function flatten(decoder: unknown): JsonObject[] {
  if (decoder === null || decoder === undefined) return []
  if (!isJsonObject(decoder)) return [{ type: decoder }]
  return decoder.type === 'Sequence' && Array.isArray(decoder.decoders) ? decoder.decoders.flatMap(flatten) : [decoder]
}

function chain(maps: ((token: string) => string | Uint8Array)[], token: string): Uint8Array {
  let value: string | Uint8Array = token
  for (const map of maps) {
    if (typeof value !== 'string') break
    value = map(value)
  }
  return typeof value === 'string' ? utf8.encode(value) : value
}

/** `<0x0A>` stands for one byte. */
function byteFallback(token: string): string | Uint8Array {
  return /^<0x[0-9A-Fa-f]{2}>$/.test(token) ? Uint8Array.of(Number.parseInt(token.slice(3, 5), 16)) : token
}

/**
 * Byte-level vocabularies write each byte as one printable character: printable Latin-1 as itself, the other 68 bytes
 * as the characters from U+0100 on, in order.
 */
const byteCharacters: readonly string[] = (() => {
  let next = 0x100
  return Array.from({ length: 256 }, (_, byte) => {
    const printable = (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae
    return String.fromCharCode(printable ? byte : next++)
  })
})()

const byteOfCharacter = new Map(byteCharacters.map((character, byte) => [character, byte]))

/** The character that stands for a byte in byte-level vocabularies. */
export function byteCharacter(byte: number): string {
  return byteCharacters[byte]
}

function byteLevel(token: string): string | Uint8Array {
  const out = new Uint8Array(token.length)
  for (let i = 0; i < token.length; i++) {
    const byte = byteOfCharacter.get(token[i])
    if (byte === undefined) return token
    out[i] = byte
  }
  return out
}

function unknown(step: JsonObject, path: string): TrinityError {
  return new TrinityError('tokenizer/decoder', `${path}: cannot decode with ${JSON.stringify(step)?.slice(0, 100)}`, {
    path,
    hint: 'supported decoders: ByteLevel, Metaspace, Replace with text, ByteFallback, Fuse, Strip after Fuse, Sequence',
  })
}
