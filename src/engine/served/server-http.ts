import { HttpService } from '../../base/http/index.js'

/** Longest that a request may take by itself; calls have deadlines of their own. */
export const LONGEST_MS = 6 * 3_600_000
/** Everything else. */
const CONTROL_MS = 60_000

/** How a server of an engine is spoken to: many samples at once, with large answers. `code`: what its errors begin with. */
export function serverHttp(name: string, code: string, baseUrl: string, key?: string): HttpService {
  return new HttpService({
    name,
    code,
    baseUrl,
    headers: () => (key ? { authorization: `Bearer ${key}` } : {}),
    deadlineMs: CONTROL_MS,
    connections: 4096,
    maxBytes: 2 ** 30,
  })
}
