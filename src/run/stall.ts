import type { ExperienceBuffer } from '../buffer/index.js'

const LOOK_MS = 1000
/** A wait that is longer is worth a line. */
export const STALL_S = 60

/** Who waits at a buffer, and what for. */
export async function bufferWaits(buffer: Pick<ExperienceBuffer, 'state'>): Promise<string[]> {
  return (await buffer.state()).waiting.map(({ who, reason }) => `${who} waits for ${reason}`)
}

export interface StallOptions {
  /** Who waits for whom, right now. */
  reasons(): Promise<readonly string[]> | readonly string[]
  /** Waits shorter than this are nobody's business. */
  seconds: number
  note(text: string): void
}

/** Says once of every long wait who waits for what. */
export function watchStalls({ reasons, seconds, note }: StallOptions): { close(): void } {
  const since = new Map<string, number>()
  let looking = false
  const look = async () => {
    if (looking) return
    looking = true
    try {
      const now = performance.now()
      const current = new Set(await reasons())
      for (const reason of since.keys()) if (!current.has(reason)) since.delete(reason)
      for (const reason of current) {
        const begun = since.get(reason)
        if (begun === undefined) since.set(reason, now)
        else if (now - begun >= seconds * 1000) {
          note(`${reason} (for ${Math.round((now - begun) / 1000)} s)`)
          // said once: the next time would be in ages
          since.set(reason, Number.POSITIVE_INFINITY)
        }
      }
    } catch {
      // a buffer that is being closed has nothing to say
    } finally {
      looking = false
    }
  }
  const timer = setInterval(look, LOOK_MS)
  timer.unref()
  return { close: () => clearInterval(timer) }
}
