import type { Context } from 'hono'
import type { z } from 'zod'
import { TrinityError } from '../base/error.js'
import type { Query } from './query.js'

export { Query } from './query.js'

/** One route below `/api`. `run` is the id in its path, '' where it has none. */
export type Part = Answering | Streaming | Acting

interface Answering {
  readonly path: string
  answer(query: Query, run: string): Promise<object>
}

/** Server-sent events, until the page leaves. */
interface Streaming {
  readonly path: string
  events(c: Context, query: Query, run: string): Response
}

/** A POST: something happens. Its body is JSON, and checked. */
interface Acting {
  readonly path: string
  /** `tell`: parts of the answer, before it is there. Nobody waits any more at the signal. */
  act(body: unknown, run: string, told: Told): Promise<object>
}

export interface Told {
  tell(part: object): void
  readonly signal: AbortSignal
}

/** A route that does something, with the body that it takes. */
export function acting<S extends z.ZodType>(
  path: string,
  schema: S,
  act: (body: z.output<S>, run: string, told: Told) => Promise<object>,
): Part {
  return {
    path,
    act(body, run, told) {
      const parsed = schema.safeParse(body)
      if (parsed.success) return act(parsed.data, run, told)
      const [{ path: key, message }] = parsed.error.issues
      throw new TrinityError('studio/query', `'${key.join('.')}' in the body: ${message}`, { path: key.join('.') })
    },
  }
}
