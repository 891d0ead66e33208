import { messageOf } from '../../base/error.js'
import { HttpError } from '../../base/http/error.js'

/**
 * Bytes that a service keeps elsewhere: it answers with the address of a store, which carries its own permission and must
 * not see the key.
 */
export async function download(url: string, key: Record<string, string>, signal: AbortSignal): Promise<Uint8Array> {
  const first = await get(url, key, signal)
  const to = first.headers.get('location')
  const isMoved = first.status >= 300 && first.status < 400 && to !== null
  const target = isMoved ? new URL(to, url) : undefined
  const isSame = target?.origin === new URL(url).origin
  const last = target ? await get(target.href, isSame ? key : {}, signal) : first
  if (!last.ok) throw failed(`the weights cannot be fetched: ${last.status}`, last.status)
  return new Uint8Array(await last.arrayBuffer())
}

async function get(url: string, headers: Record<string, string>, signal: AbortSignal): Promise<Response> {
  try {
    return await fetch(url, { headers, redirect: 'manual', signal })
  } catch (error) {
    signal.throwIfAborted()
    throw failed(`the weights cannot be fetched: ${messageOf(error)}`, undefined)
  }
}

function failed(message: string, status: number | undefined): HttpError {
  return new HttpError('tinker/download', message, {
    status,
    hint: 'the weights stay at the service: try it again later',
  })
}
