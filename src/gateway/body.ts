import type { IncomingMessage } from 'node:http'
import { TrinityError } from '../base/error.js'
import type { Wire } from '../dialect/dialect.js'
import type { GatewayLimits } from './limits.js'

/** Refuses what is not JSON as plain UTF-8, before a byte of it is read. */
export function checkMediaType(incoming: IncomingMessage): void {
  const { 'content-type': type = '', 'content-encoding': encoding = 'identity' } = incoming.headers
  const essence = type.split(';', 1)[0].trim().toLowerCase()
  if (essence === 'application/json' && encoding === 'identity') return
  const given = encoding === 'identity' ? `'${essence}'` : `content-encoding '${encoding}'`
  throw new TrinityError('gateway/media-type', `a body of ${given} cannot be read`, {
    hint: 'send content-type: application/json, not compressed',
  })
}

/** The bytes of a request's body, within the limits of size and time. */
export async function readBody(
  incoming: IncomingMessage,
  { bodyBytes, bodyMs }: Pick<GatewayLimits, 'bodyBytes' | 'bodyMs'>,
): Promise<Buffer> {
  const tooLarge = () =>
    new TrinityError('gateway/too-large', `the body is longer than ${bodyBytes} bytes`, {
      hint: "raise the gateway's limits.bodyBytes, or send less",
    })
  if (Number(incoming.headers['content-length'] ?? 0) > bodyBytes) throw tooLarge()
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let bytes = 0
    const settle = (act: () => void) => {
      clearTimeout(timer)
      incoming.off('data', onData).off('end', onEnd).off('close', onClose)
      act()
    }
    const fail = (error: TrinityError) => settle(() => reject(error))
    const onData = (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes > bodyBytes) fail(tooLarge())
      else chunks.push(chunk)
    }
    const onEnd = () => settle(() => resolve(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)))
    const onClose = () => fail(new TrinityError('gateway/left', 'the client left before the end of its body'))
    const timer = setTimeout(() => {
      fail(new TrinityError('gateway/slow-body', `the body was not there within ${bodyMs} ms`))
    }, bodyMs)
    incoming.on('data', onData).on('end', onEnd).on('close', onClose)
    // Without a listener an error of the socket would end the process; `close` follows it.
    incoming.on('error', () => {})
    if (incoming.destroyed) onClose()
  })
}

const strict = new TextDecoder('utf-8', { fatal: true })

/** The JSON object that a body must be. */
export function parseBody(body: Buffer, limits: Pick<GatewayLimits, 'depth' | 'values'>): Wire {
  checkShape(body, limits)
  let value: unknown
  try {
    value = JSON.parse(strict.decode(body))
  } catch (cause) {
    throw new TrinityError('gateway/json', 'the body is not JSON', { cause, hint: 'send one JSON object as UTF-8' })
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new TrinityError('gateway/json', 'the body is not a JSON object')
  }
  return value as Wire
}

const QUOTE = 0x22
const COMMA = 0x2c
const BACKSLASH = 0x5c

/**
 * Looks outside of strings only. Whatever reads the body later may call itself once per level, and looks at every value:
 * nobody else is served meanwhile.
 */
function checkShape(body: Buffer, most: Pick<GatewayLimits, 'depth' | 'values'>): void {
  let depth = 0
  let values = 1
  let quoted = false
  for (let i = 0; i < body.length; i++) {
    const byte = body[i]
    if (quoted) {
      if (byte === BACKSLASH) i++
      else if (byte === QUOTE) quoted = false
    } else if (byte === QUOTE) quoted = true
    // [ and {, ] and } differ in one bit.
    else if ((byte | 0x20) === 0x7b) {
      values++
      if (++depth > most.depth)
        throw new TrinityError('gateway/depth', `the body nests deeper than ${most.depth} levels`)
    } else if ((byte | 0x20) === 0x7d) depth--
    else if (byte === COMMA) values++
  }
  if (values <= most.values) return
  throw new TrinityError('gateway/too-large', `the body holds more than ${most.values} values`, {
    hint: "raise the gateway's limits.values, or send less",
  })
}
