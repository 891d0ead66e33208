import { setTimeout as sleep } from 'node:timers/promises'
import type { Context } from 'hono'
import { streamSSE } from 'hono/streaming'
import { messageOf } from '../base/error.js'

/** Sends one event of a map of events. */
export type Send<Events> = <Name extends keyof Events & string>(event: Name, data: Events[Name]) => Promise<void>

/** Proxies and browsers give up connections on which nothing comes. */
const SILENT_MS = 15_000

/** Looks again and again and sends what is new, until the page leaves or Studio ends. */
export function streamOf<Events>(
  c: Context,
  signal: AbortSignal,
  pollMs: number,
  look: (send: Send<Events>) => Promise<void>,
): Response {
  return streamSSE(c, async (stream) => {
    let sentAt = performance.now()
    const send: Send<Events> = async (event, data) => {
      sentAt = performance.now()
      await stream.writeSSE({ event, data: JSON.stringify(data) })
    }
    const left = new AbortController()
    stream.onAbort(() => left.abort())
    const end = AbortSignal.any([signal, left.signal])
    // the head goes out at once: a page shows that it is connected
    await stream.write(': begin\n\n')
    while (!end.aborted) {
      // a file may go away between two looks: the next one finds out what is there
      await look(send).catch((error: unknown) => stream.write(`: ${messageOf(error).replaceAll('\n', ' ')}\n\n`))
      if (performance.now() - sentAt > SILENT_MS) {
        sentAt = performance.now()
        await stream.write(': alive\n\n')
      }
      await sleep(pollMs, undefined, { signal: end }).catch(() => {})
    }
  })
}
