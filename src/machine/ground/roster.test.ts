import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { isRoster, Roster, readRosters } from './roster.js'

let dir: string
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'trinity-roster-'))
})
afterAll(() => rm(dir, { recursive: true }))

it('says of every worker where it is and what it does', async () => {
  const roster = new Roster(join(dir, 'log'))
  const first = roster.add('trainer_0_0', '10.0.0.7', [3])
  roster.add('rollout_0_0', undefined)
  first.tell({ state: 'ready', pid: 7 })
  first.tell({ doing: ['forwardBackward'], line: 'x'.repeat(1000) })
  roster.close()
  const found = await readRosters(join(dir, 'log'))
  expect(found).toMatchObject([
    { name: 'trainer_0_0', node: '10.0.0.7', gpus: [3], pid: 7, state: 'ready', doing: ['forwardBackward'] },
    { name: 'rollout_0_0', node: 'this machine', gpus: [], pid: null, state: 'starts', doing: [] },
  ])
  expect(found[0].line).toHaveLength(300)
})

it('keeps one worker of a name, and none of what is no list', async () => {
  const roster = new Roster(dir)
  roster.add('a', 'n').tell({ state: 'ended with exit code 1' })
  roster.add('a', 'm')
  roster.close()
  expect((await readRosters(dir)).map(({ node, state }) => [node, state])).toEqual([['m', 'starts']])
  for (const text of ['', 'null', '{"workers":[{}],"pid":1,"at":2}']) {
    await writeFile(join(dir, 'workers.json'), text)
    expect(await readRosters(dir)).toEqual([])
  }
  expect(await readRosters(join(dir, 'nowhere'))).toEqual([])
  expect(['workers.json', 'workers-a.json', 'workersa.json', 'workers.json.tmp'].map(isRoster)).toEqual([
    ...[true, true, false, false],
  ])
})
