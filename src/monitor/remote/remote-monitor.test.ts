import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { listeningLogger } from '../../../test/mock-service.js'
import type { MetricsRow } from '../metrics-file.js'
import { Delivered } from './delivered.js'
import { HttpError } from './http.js'
import type { Remote, RemoteTable } from './remote.js'
import { RemoteMonitor } from './remote-monitor.js'

const root = mkdtempSync(join(tmpdir(), 'trinity-remote-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

class FakeRemote implements Remote {
  readonly rows: MetricsRow[] = []
  readonly tables: RemoteTable[] = []
  opened: (string | undefined)[] = []
  finished = 0
  failWith: () => Error | undefined = () => undefined

  constructor(readonly wantsWholeSteps = false) {}

  async open(known: string | undefined) {
    this.#maybeFail()
    this.opened.push(known)
    return { run: known ?? 'new' }
  }
  async send(rows: readonly MetricsRow[]) {
    this.#maybeFail()
    this.rows.push(...rows)
  }
  async sendTable(table: RemoteTable) {
    this.#maybeFail()
    this.tables.push(table)
  }
  async finish() {
    this.#maybeFail()
    this.finished++
  }
  #maybeFail() {
    const error = this.failWith()
    if (error) throw error
  }
}

describe('RemoteMonitor', () => {
  let file: string
  let count = 0
  let history: MetricsRow[]
  beforeEach(() => {
    file = join(root, `${count++}.json`)
    history = []
  })

  function start(remote: Remote, extra: { capacity?: number; closeMs?: number } = {}) {
    const logger = listeningLogger()
    const options = {
      name: 'fake',
      remote,
      delivered: new Delivered(file),
      logger,
      history: () => history,
      backoffMs: 1,
    }
    const monitor = new RemoteMonitor({ ...options, ...extra })
    /** As the file beside it would have it. */
    const log = (metrics: Record<string, number>, step: number) => {
      const known = history.find((row) => row.step === step)
      if (known) Object.assign(known.metrics, metrics)
      else history.push({ step, time: 1, metrics: { ...metrics } })
      monitor.log(metrics, step)
    }
    return { monitor, log, logger }
  }
  const steps = (remote: FakeRemote) => remote.rows.map(({ step }) => step)

  it('sends everything in order, and whole steps where they are wanted', async () => {
    const remote = new FakeRemote(true)
    const { monitor, log } = start(remote)
    log({ a: 1 }, 1)
    log({ b: 2 }, 1)
    log({ a: 3 }, 2)
    monitor.table('t', [{ x: 1 }], 2)
    await monitor.close()
    expect(remote.rows.map(({ step, metrics }) => [step, metrics])).toEqual([
      [1, { a: 1, b: 2 }],
      [2, { a: 3 }],
    ])
    expect(remote.tables).toHaveLength(1)
    expect(remote.finished).toBe(1)
  })

  it('tries again until the service answers, and says so once', async () => {
    const remote = new FakeRemote()
    let left = 5
    remote.failWith = () => (left-- > 0 ? new HttpError(503, 'busy') : undefined)
    const { monitor, log, logger } = start(remote)
    log({ a: 1 }, 1)
    log({ a: 2 }, 2)
    await monitor.close()
    expect(steps(remote)).toEqual([1, 2])
    expect(logger.lines.filter((line) => line.includes('does not answer'))).toHaveLength(1)
    expect(logger.lines).toContain('info fake answers again')
  })

  it('gives up at the end of the run and sends the rest when the run goes on', async () => {
    const dead = new FakeRemote()
    dead.failWith = () => new Error('nobody there')
    const first = start(dead, { closeMs: 20 })
    for (const step of [1, 2, 3]) first.log({ a: step }, step)
    await first.monitor.close()
    expect(first.logger.lines.at(-1)).toContain('3 steps were not sent')

    history = history.filter(({ step }) => step <= 2)
    const alive = new FakeRemote()
    const second = start(alive)
    second.monitor.rewind()
    for (const step of [3, 4]) second.log({ a: step }, step)
    await second.monitor.close()
    expect(steps(alive)).toEqual([1, 2, 3, 4])

    const third = start(alive)
    third.monitor.rewind()
    third.log({ a: 4, late: 1 }, 4)
    third.log({ a: 5 }, 5)
    await third.monitor.close()
    expect(alive.opened).toEqual([undefined, 'new'])
    expect(alive.rows.slice(4).map(({ step, metrics }) => [step, metrics])).toEqual([
      [4, { late: 1 }],
      [5, { a: 5 }],
    ])
  })

  it.each([0, 3])('sends numbers of an earlier step that come late, also after %i failures', async (failures) => {
    const remote = new FakeRemote(true)
    const { monitor, log } = start(remote)
    log({ a: 1 }, 1)
    log({ a: 2 }, 2)
    await new Promise((resolve) => setTimeout(resolve, 20))
    let left = failures
    remote.failWith = () => (left-- > 0 ? new HttpError(503, 'busy') : undefined)
    log({ evaluation: 5 }, 1)
    await monitor.close()
    const sent = remote.rows.map(({ step, metrics }) => [step, metrics])
    expect(sent).toEqual([
      [1, { a: 1 }],
      [2, { a: 2 }],
      [1, { evaluation: 5 }],
    ])
    const resumed = new FakeRemote(true)
    const again = start(resumed)
    again.monitor.rewind()
    await again.monitor.close()
    expect(resumed.rows).toEqual([])
  })

  it('keeps little in memory and loses nothing for it', async () => {
    const remote = new FakeRemote()
    let isDown = true
    remote.failWith = () => (isDown ? new Error('down') : undefined)
    const { monitor, log } = start(remote, { capacity: 3 })
    for (let step = 1; step <= 20; step++) log({ a: step }, step)
    isDown = false
    await new Promise((resolve) => setTimeout(resolve, 50))
    for (let step = 21; step <= 23; step++) log({ a: step }, step)
    await monitor.close()
    expect(steps(remote)).toEqual(Array.from({ length: 23 }, (_, i) => i + 1))
  })

  it('leaves out what is refused for good, and stops when nothing is allowed', async () => {
    const picky = new FakeRemote()
    let calls = 0
    picky.failWith = () => (++calls === 2 ? new HttpError(400, 'bad value') : undefined)
    const one = start(picky)
    one.log({ a: 1 }, 1)
    await new Promise((resolve) => setTimeout(resolve, 20))
    one.log({ a: 2 }, 2)
    await one.monitor.close()
    expect(steps(picky)).toEqual([2])
    expect(one.logger.lines.at(-1)).toContain('1 steps were refused')

    const locked = new FakeRemote()
    locked.failWith = () => new HttpError(401, 'who are you?')
    const two = start(locked)
    rmSync(file)
    for (let step = 1; step < 5; step++) two.log({ a: 1 }, step)
    await two.monitor.close()
    expect(two.logger.lines.join('\n')).toContain('refuses: who are you?')
    expect(locked.rows).toEqual([])
  })
})
