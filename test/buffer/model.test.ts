/** Any sequence of puts, takes, cuts and restores gives what a plain list would give. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { type Cut, type GivenBuffer, openBuffer } from '../../src/buffer/index.js'
import { createExperience } from '../../src/experience/index.js'

const folder = mkdtempSync(join(tmpdir(), 'trinity-model-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
let made = 0

type Action = { put: number } | { take: number } | 'cut' | 'restore' | 'reopen'
const actions = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.record({ put: fc.nat(5) }, { noNullPrototype: true }) },
    { weight: 4, arbitrary: fc.record({ take: fc.nat(6) }, { noNullPrototype: true }) },
    { weight: 2, arbitrary: fc.constant('cut' as const) },
    { weight: 1, arbitrary: fc.constant('restore' as const) },
    { weight: 1, arbitrary: fc.constant('reopen' as const) },
  ),
  { maxLength: 25 },
)

async function play(config: GivenBuffer, script: Action[]): Promise<void> {
  let buffer = await openBuffer(config)
  let pending: number[] = []
  let next = 0
  let saved: { cut: Cut; pending: number[]; next: number } | undefined
  const restore = async () => {
    await buffer.restore(saved?.cut)
    pending = [...(saved?.pending ?? [])]
    next = saved?.next ?? 0
  }
  for (const action of script) {
    if (action === 'cut') {
      saved = { cut: JSON.parse(JSON.stringify(await buffer.cut())), pending: [...pending], next }
      expect(saved.cut.marks.explorer ?? 0).toBe(next)
    } else if (action === 'restore') await restore()
    else if (action === 'reopen') {
      // A killed process starts again at its checkpoint.
      await buffer.close()
      buffer = await openBuffer(config)
      await restore()
    } else if ('put' in action) {
      const tasks = Array.from({ length: action.put }, () => next++)
      await buffer.put(
        tasks.map((task) => createExperience({ eid: { task }, tokens: [task, 1] })),
        { mark: next },
      )
      pending.push(...tasks)
    } else {
      const count = Math.min(action.take, pending.length)
      const taken = await buffer.take(count)
      expect(taken.map((e) => e.tokens[0])).toEqual(pending.splice(0, count))
      expect(taken.every((e) => e.useCount === 1)).toBe(true)
    }
    expect((await buffer.state()).ready).toBe(pending.length)
  }
  await buffer.close()
}

describe.each<[string, number, () => GivenBuffer]>([
  ['queue in memory', 60, () => ({ name: 'b', storage_type: 'queue' })],
  ['queue with JSONL', 40, () => ({ name: 'b', storage_type: 'queue', path: join(folder, `${made++}.jsonl`) })],
  ['queue with SQLite', 25, () => ({ name: 'b', storage_type: 'queue', path: `sqlite:///${folder}/${made++}.db` })],
  ['SQLite', 25, () => ({ name: 'b', storage_type: 'sql', path: `sqlite:///${folder}/${made++}.db` })],
])('%s', (_, numRuns, config) => {
  it('behaves like a list, through every restart', async () => {
    await fc.assert(
      fc.asyncProperty(actions, (script) => play(config(), script)),
      { numRuns },
    )
  })
})
