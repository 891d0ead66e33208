import type { Duplex } from 'node:stream'
import { isJsonObject, type JsonObject } from '../../base/file/json-file.js'

/** Of a first line; more is nobody's of ours. */
const LONGEST = 4096

/**
 * The line of JSON that somebody begins with; what follows it stays in the stream. Undefined: something else came, or
 * nothing before the stream closed.
 */
export function firstLine(stream: Duplex): Promise<JsonObject | undefined> {
  return new Promise((resolve) => {
    let had = Buffer.alloc(0)
    const done = (line: JsonObject | undefined) => {
      stream.off('readable', read)
      stream.off('close', closed)
      resolve(line)
    }
    const closed = () => done(undefined)
    const read = () => {
      for (let piece: Buffer | null = stream.read(); piece !== null; piece = stream.read()) {
        had = Buffer.concat([had, piece])
        const end = had.indexOf('\n')
        if (end < 0 && had.length <= LONGEST) continue
        // who listens next must not be told of it before it listens
        stream.off('readable', read)
        if (end >= 0 && end + 1 < had.length) stream.unshift(had.subarray(end + 1))
        done(end >= 0 && end <= LONGEST ? jsonObject(had.subarray(0, end).toString()) : undefined)
        return
      }
    }
    stream.on('readable', read)
    stream.on('close', closed)
  })
}

/** Undefined: it is none. */
export function jsonObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isJsonObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
