import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Ground, PythonProgram, RoomWish } from '../../machine/ground/ground.js'
import { thisMachine } from '../../machine/ground/this-machine.js'
import { fakeWorker } from './fake-worker.fixture.js'
import { WorldWorker } from './worker.js'

let dir: string
let python: string
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'trinity-placed-'))
  python = await fakeWorker(dir)
})
afterAll(() => rm(dir, { recursive: true }))

const step = (worker: WorldWorker, given: string) =>
  worker.call({ op: 'step', slot: 1, given, what: 'step', timeoutMs: 20_000 })

/** This machine, as if it were others; keeps what it is asked for. */
function watched(): { ground: Ground; wishes: RoomWish[]; programs: PythonProgram[] } {
  const here = thisMachine(python)
  const wishes: RoomWish[] = []
  const programs: PythonProgram[] = []
  const room: Ground['room'] = async (wish, signal) => {
    wishes.push(wish)
    const found = await here.room(wish, signal)
    const start: typeof found.start = (index, program) => {
      programs.push(program)
      return found.start(index, program)
    }
    return { ...found, start }
  }
  return { ground: { ...here, room }, wishes, programs }
}

it('calls are answered by a worker that came from elsewhere; its place may be taken again', async () => {
  const { ground, wishes, programs } = watched()
  const place = { ground, env: { ASKED: 'yes' } }
  const [one, other] = [new WorldWorker({ python, place }), new WorldWorker({ python, place })]
  expect(await Promise.all([step(one, 'a'), step(other, 'b')])).toMatchObject([{ given: 'a' }, { given: 'b' }])
  expect(wishes.map(({ group, index, spread }) => [group, index, spread])).toEqual([
    ['environment', 0, true],
    ['environment', 1, true],
  ])
  expect(programs[0].env).toMatchObject({ ASKED: 'yes', PYTHONHASHSEED: '0' })
  await expect(step(one, 'die')).rejects.toMatchObject({ code: 'environment/worker-died' })
  expect(one.isAlive).toBe(false)
  const next = new WorldWorker({ python, place })
  expect(await step(next, 'c')).toMatchObject({ given: 'c' })
  expect(wishes[2].index).toBe(0)
})

it('whoever does not know the token is turned away', async () => {
  const { ground, programs } = watched()
  const worker = new WorldWorker({ python, place: { ground } })
  await expect.poll(() => programs.length).toBe(1)
  const stranger = connect(programs[0].reaches?.port as number, '127.0.0.1')
  stranger.write('{"token":"no"}\n')
  await new Promise((resolve) => stranger.once('close', resolve))
  expect(await step(worker, 'a')).toMatchObject({ given: 'a' })
})

it('says why it was not placed', async () => {
  const room = () => Promise.reject(new Error('no node has room'))
  const worker = new WorldWorker({ python, place: { ground: { ...thisMachine(python), room } } })
  await expect(step(worker, 'a')).rejects.toMatchObject({
    code: 'environment/worker-died',
    message: 'a Python worker was not placed: no node has room',
  })
})
