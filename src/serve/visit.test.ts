import { describe, expect, it } from 'vitest'
import { silent, speaker, text } from '../../test/support/workflow-kit.js'
import type { SampleRequest } from '../engine/contract.js'
import type { Experience } from '../experience/index.js'
import { type VisitParts, visits } from './visit.js'

const rollout_model = {
  name: null,
  model_path: 'models/small',
  max_model_len: 4096,
  temperature: 0.5,
  seed: 1,
  unknown_request_fields: 'refuse',
}
const config = {
  explorer: { rollout_model },
  synchronizer: { sync_timeout: 10 },
} as unknown as VisitParts['config']

async function visiting() {
  const requests: SampleRequest[] = []
  const sampler = await speaker((_, request) => {
    requests.push(request)
    return 'yes'
  })
  const recorded: Experience[] = []
  const withdrawn: string[] = []
  const history = {
    record: async (experiences: readonly Experience[]) => void recorded.push(...experiences),
    withdraw: async (ids: readonly string[]) => void withdrawn.push(...ids),
  }
  return { open: visits({ config, sampler, text, history, log: silent }), requests, recorded, withdrawn }
}

const CHAT = [{ role: 'user', content: '?' }]

describe('a visit', () => {
  it('records answers under the id of their reply, and takes them back by it', async () => {
    const { open, recorded, withdrawn } = await visiting()
    const { model, onAnswers, onUnanswered } = open()
    expect([model.name, model.unknownFields]).toEqual(['models/small', 'refuse'])
    const answers = await model.answers(CHAT, { n: 2 })
    await onAnswers?.(answers, 'reply-1')
    expect(recorded.map(({ eid }) => eid.suffix)).toEqual(['reply-1', 'reply-1'])
    onUnanswered?.(answers)
    expect(withdrawn).toEqual(['reply-1'])
    // one that never had a reply is not in the history
    onUnanswered?.(await model.answers(CHAT))
    expect(withdrawn).toEqual(['reply-1'])
  })

  it('sessions, calls and starts of the server draw other numbers; the temperature is the server’s', async () => {
    const first = await visiting()
    const [a, b] = [first.open(), first.open()]
    for (const { model } of [a, a, b]) await model.answers(CHAT, { temperature: 0, seed: 7 })
    const second = await visiting()
    await second.open().model.answers(CHAT)
    const all = [...first.requests, ...second.requests].map(({ params }) => params)
    expect(new Set(all.map(({ seed }) => seed)).size).toBe(4)
    expect(all.map(({ temperature }) => temperature)).toEqual([0.5, 0.5, 0.5, 0.5])
  })

  it('forgets what was said after many calls', async () => {
    const { open } = await visiting()
    const { model } = open() as { model: ReturnType<typeof open>['model'] & { stats: { calls: number } } }
    for (let i = 0; i < 257; i++) await model.complete(`${i}`)
    expect(model.stats.calls).toBe(1)
  })
})
