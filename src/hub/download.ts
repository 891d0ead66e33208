import { createWriteStream } from 'node:fs'
import { rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { TrinityError } from '../base/error.js'
import { makeFolder } from '../base/file/make-folder.js'
import { sha256 } from '../base/file/sha256.js'
import { isNetworkError } from './error.js'
import { withLock } from './lock.js'

export interface Download {
  url: string
  headers: Record<string, string>
  /** Appears only when complete; until then the bytes are in `<target>.incomplete`. */
  target: string
  size?: number
  sha256?: string
  /** Turns a refusal into an error. */
  refused: (response: Response) => Promise<Error>
  /** Called with the number of bytes that arrived. */
  onBytes?: (bytes: number) => void
  signal?: AbortSignal
  /** Attempts in a row without a single new byte before giving up; the waits between them double. */
  attempts?: number
  waitMs?: number
}

/** Downloads a file; a broken connection or a killed process continues where it stopped. */
export async function download(job: Download): Promise<void> {
  await makeFolder(dirname(job.target))
  await withLock(`${job.target}.lock`, () => fetchRest(job), job.signal)
}

async function fetchRest(job: Download): Promise<void> {
  if ((await sizeOf(job.target)) !== undefined) return
  const part = `${job.target}.incomplete`
  const attempts = job.attempts ?? 5
  for (let failures = 0; ; ) {
    const before = (await sizeOf(part)) ?? 0
    try {
      await fetchOnce(job, part, before)
      break
    } catch (error) {
      if (job.signal?.aborted || !(isNetworkError(error) || error instanceof Retry)) throw error
      failures = ((await sizeOf(part)) ?? 0) > before ? 0 : failures + 1
      if (failures >= attempts) throw error instanceof Retry ? error.reason : error
      await sleep((job.waitMs ?? 500) * 2 ** failures, undefined, { signal: job.signal })
    }
  }
  await verify(job, part)
  await rename(part, job.target)
}

async function fetchOnce(job: Download, part: string, have: number): Promise<void> {
  if (job.size !== undefined && have === job.size && have > 0) return
  const headers = have > 0 ? { ...job.headers, range: `bytes=${have}-` } : job.headers
  const response = await fetch(job.url, { headers, signal: job.signal })
  if (response.status === 416) {
    // What is here is longer than the file: it belongs to something else.
    await rm(part, { force: true })
    throw new Retry(await job.refused(response))
  }
  if (!response.ok) {
    const error = await job.refused(response)
    throw response.status === 429 || response.status >= 500 ? new Retry(error) : error
  }
  const append = response.status === 206
  const body = response.body
    ? Readable.fromWeb(response.body as import('node:stream/web').ReadableStream)
    : Readable.from([])
  body.on('data', (chunk: Uint8Array) => job.onBytes?.(chunk.length))
  await pipeline(body, createWriteStream(part, { flags: append ? 'a' : 'w' }), { signal: job.signal })
}

async function verify(job: Download, part: string): Promise<void> {
  const size = (await sizeOf(part)) ?? 0
  const whole = job.size === undefined || size === job.size
  if (whole && (job.sha256 === undefined || (await sha256(part)) === job.sha256)) return
  await rm(part, { force: true })
  throw new TrinityError(
    'hub/corrupt',
    whole ? 'the downloaded file is damaged: its SHA-256 differs' : `got ${size} bytes instead of ${job.size}`,
    { path: job.url, hint: 'the partial file was removed; run the same command again' },
  )
}

async function sizeOf(path: string): Promise<number | undefined> {
  return (await stat(path).catch(() => undefined))?.size
}

/** Worth another attempt. */
class Retry extends Error {
  readonly reason: Error

  constructor(reason: Error) {
    super(reason.message)
    this.reason = reason
  }
}
