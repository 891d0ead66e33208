import fc from 'fast-check'
import { expect } from 'vitest'
import { modelOf, speaker } from '../../test/support/workflow-kit.js'
import { anyBody } from '../dialect/bodies.fixture.js'
import { questionWire } from '../dialect/clients.fixture.js'
import type { Dialect } from '../dialect/dialect.js'
import { dialects } from '../dialect/dialects.js'
import { Gateway } from './index.js'

interface Attempt {
  readonly change: Record<string, unknown>
  /** The change is one of a request that is right. */
  readonly whole: boolean
  /** What becomes of its text on the way. */
  readonly harm: 'none' | 'cut' | 'noise'
  readonly at: number
  readonly method: string
  readonly type: string
}

const attempt: fc.Arbitrary<Attempt> = fc.record({
  change: anyBody,
  whole: fc.boolean(),
  harm: fc.oneof(
    { weight: 8, arbitrary: fc.constant('none' as const) },
    fc.constantFrom('cut' as const, 'noise' as const),
  ),
  at: fc.nat(200),
  method: fc.oneof({ weight: 12, arbitrary: fc.constant('POST') }, fc.constantFrom('GET', 'PUT', 'DELETE', 'PATCH')),
  type: fc.oneof({ weight: 12, arbitrary: fc.constant('application/json') }, fc.constantFrom('text/plain', 'json', '')),
})

/** What a request may get that is wrong, or right. */
const STATUSES = [200, 400, 404, 405, 415]

/**
 * Sends requests of all kinds over HTTP, each in a session of its own: the status fits, the body is the dialect's, and a
 * model has recorded what was answered and nothing else.
 */
export async function fuzz(dialect: Dialect, count: number, seed: number): Promise<Map<number, number>> {
  const gateway = await Gateway.open({ dialects })
  const sampler = await speaker(() => 'ok')
  const seen = new Map<number, number>()
  const send = async ({ change, whole, harm, at, method, type }: Attempt) => {
    const model = modelOf(sampler, { history: true })
    model.refuseLong()
    const session = gateway.session({ model, onUnanswered: (answers) => model.withdraw(answers) })
    const text = JSON.stringify(whole ? { ...questionWire(dialect.name), ...change } : change)
    const body = harm === 'cut' ? text.slice(0, at) : harm === 'noise' ? `${text.slice(0, at)}\u0000é` : text
    const response = await fetch(session.baseURL + dialect.path, {
      ...{ method, body: method === 'GET' ? undefined : body },
      headers: { 'content-type': type, 'x-api-key': session.apiKey },
    })
    const { status } = response
    const reply = await response.text()
    seen.set(status, (seen.get(status) ?? 0) + 1)
    expect(STATUSES).toContain(status)
    const answers = model.takeHistory()
    expect(answers.length > 0).toBe(status === 200)
    expect(model.conversation.segments > 0).toBe(status === 200)
    if (status !== 200) expect(Object.keys(JSON.parse(reply))).toContain('error')
    else if (response.headers.get('content-type')!.startsWith('text/event-stream')) expect(reply).toMatch(/\n\n$/)
    else expect(JSON.parse(reply)).toHaveProperty('id')
    expect(session.calls.length).toBe(status === 200 ? 1 : 0)
    session.close()
  }
  try {
    await fc.assert(fc.asyncProperty(attempt, send), { numRuns: count, seed })
    expect(gateway.stats).toMatchObject({ callsInFlight: 0, openSessions: 0 })
    expect(
      Object.keys(gateway.stats.errors)
        .map(Number)
        .every((status) => STATUSES.includes(status)),
    ).toBe(true)
    expect((await fetch(`${gateway.url}/health`)).status).toBe(200)
    return seen
  } finally {
    await gateway.close()
  }
}
