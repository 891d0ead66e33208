import { messageOf, TrinityError } from '../../base/error.js'

export interface Retry {
  times: number
  intervalMs: number
}

/** Errors after which it is certain that nothing has been changed, so that trying again cannot do a thing twice. */
const NOTHING_DONE = new Set([
  'SQLITE_BUSY',
  'SQLITE_LOCKED',
  '40001', // serialization failure
  '40P01', // deadlock
])

/** `max_retry_times` attempts with a pause between them. */
export async function retrying<T>({ times, intervalMs }: Retry, where: string, work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (error instanceof TrinityError) throw error
      const code = (error as { code?: string }).code ?? ''
      if (!NOTHING_DONE.has(code) || attempt >= times) {
        throw new TrinityError('buffer/database', `${where}: ${messageOf(error)}`, {
          path: where,
          cause: error,
        })
      }
      await new Promise((resolve) => setTimeout(resolve, intervalMs))
    }
  }
}
