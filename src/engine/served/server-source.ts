import type { ServerApi } from './server-api.js'

/** Where a server comes from: one that runs already, or one that is started here. */
export interface ServerSource {
  /** What it is called in logs and errors. */
  readonly name: string
  /** A server that takes requests; called again after it was lost. */
  open(signal: AbortSignal): Promise<ServerApi>
  /** Called once for each server that was opened, when it is known to be gone. */
  onLost?: (why: string) => void
  close(): Promise<void>
}

/** How kinds of servers are spoken to. */
export type NewApi = (baseUrl: string) => ServerApi
