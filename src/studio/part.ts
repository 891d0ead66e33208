import type { Context } from 'hono'
import type { Query } from './query.js'

export { Query } from './query.js'

/** One route below `/api`. `run` is the id in its path, '' where it has none. */
export type Part = Answering | Streaming

interface Answering {
  readonly path: string
  answer(query: Query, run: string): Promise<object>
}

/** Server-sent events, until the page leaves. */
interface Streaming {
  readonly path: string
  events(c: Context, query: Query, run: string): Response
}
