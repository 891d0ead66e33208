import { isUtf8 } from 'node:buffer'
import { TrinityError } from '../../base/error.js'

/** Bytes that claim to be text and are not; whoever knows the row says where. */
export class NotUtf8 extends Error {
  constructor() {
    super('the text is not UTF-8')
  }
}

/** The text of some bytes. Nothing is put in place of what is not UTF-8: a model would learn the stand-in. */
export function utf8Text(bytes: Uint8Array): string {
  if (!isUtf8(bytes)) throw new NotUtf8()
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')
}

/** The text of a record of a text file; `where` is asked only for the message. */
export async function recordText(record: Uint8Array, where: () => Promise<string>): Promise<string> {
  if (isUtf8(record)) return utf8Text(record)
  throw notUtf8(await where())
}

export function notUtf8(path: string): TrinityError {
  return new TrinityError('data/encoding', 'the text is not UTF-8', {
    path,
    hint: 'convert the file first, for example: iconv -f latin1 -t utf-8 old.csv > new.csv (or -f utf-16)',
  })
}
