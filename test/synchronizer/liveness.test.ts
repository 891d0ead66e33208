import { describe, expect, it } from 'vitest'
import type { SyncSchedule } from '../../src/synchronizer/index.js'
import { SimulatedJob } from './job.js'
import { World } from './world.js'

const STYLES = ['fixed', 'explorer_driven', 'trainer_driven', 'fully_async'] as const
/** Each a job of its own, with an order of starts and kills that its seed fixes. */
const ROUNDS = 240
const MINUTE = 60_000

/** Starts in any order, kills at any moment, and in the end everybody is started who was killed. */
function trouble(world: World, job: SimulatedJob, names: readonly string[]): number {
  let last = 0
  const at = (time: number, act: () => void) => {
    last = Math.max(last, time)
    world.at(time, act)
  }
  for (const name of names) at(world.between(0, 1) * world.between(0, 60_000), () => job.start(name))
  let time = 0
  for (let kills = world.between(1, 6); kills > 0; kills--) {
    time += world.between(100, 40_000)
    const victims = world.random() < 0.2 ? names : [names[world.between(0, names.length - 1)]]
    at(time, () => {
      for (const victim of victims) job.kill(victim)
    })
    for (const victim of victims) at(time + world.between(0, 1) * world.between(0, 90_000), () => job.start(victim))
  }
  at(last + 1, () => {
    for (const name of names) job.start(name)
  })
  return last
}

describe('two processes that are killed at any moment', () => {
  it(`never wait for each other for ever: ${ROUNDS} rounds`, { timeout: 120_000 }, async () => {
    let ahead = 0
    let final = 0
    // In the last one the trainer is hungry between two steps whose weights are due.
    for (const seed of [...Array(ROUNDS).keys(), 528]) {
      const world = new World(seed)
      const interval = world.between(1, 3)
      const schedule: SyncSchedule = {
        sync_style: STYLES[seed % STYLES.length],
        explorer_sync_interval: interval,
        trainer_sync_interval: interval,
        sync_offset: world.between(0, 1),
      }
      const made = world.between(1, 4)
      const names = ['trainer', 'explorer', ...(world.random() < 0.3 ? ['second'] : [])]
      const needed = Math.max(1, made * (names.length - 1) + world.between(-1, 1) * world.between(0, 1))
      const job = new SimulatedJob(world, {
        schedule,
        steps: 12,
        made,
        needed,
        saveEvery: world.between(1, 5),
        slowMs: { explorer: world.between(10, 8000), trainer: world.between(10, 8000) },
        timeoutMs: 60 * MINUTE,
      })
      const calm = trouble(world, job, names)
      await world.run(() => world.now > calm + 1 && job.running.size === 0, calm + 15 * MINUTE)
      const told = `seed ${seed}: ${JSON.stringify([...world.statuses.values()])}`
      expect(job.errors, told).toEqual([])
      expect([...job.running.keys()], told).toEqual([])
      expect([...job.done].sort(), told).toEqual([...names].sort())
      // A trainer that is dead, or has enough, makes nobody go on.
      for (const { ready, trainerGoneMs } of job.ahead) {
        expect(trainerGoneMs, told).toBeLessThan(2000)
        if (names.length === 2) expect(ready, told).toBeLessThan(needed)
      }
      ahead += job.ahead.length
      // An explorer that has seen no trainer in its first seconds does not wait for one.
      for (const version of job.lastVersions.values()) expect([0, job.finished], told).toContain(version)
      final += [...job.lastVersions.values()].filter((version) => version === job.finished).length
      if (schedule.sync_style === 'fixed' && names.length === 2 && made <= needed) {
        expect(job.mostReady, told).toBeLessThan(needed + made * (interval + schedule.sync_offset))
      }
    }
    // The rounds come to where each would wait for the other.
    expect(ahead).toBeGreaterThan(20)
    expect(final).toBeGreaterThan(0.9 * ROUNDS)
  })

  it('an explorer runs ahead of a trainer that was killed while it waited by one round at most', async () => {
    for (let seed = 0; seed < 8; seed++) {
      const world = new World(seed)
      const job = new SimulatedJob(world, {
        schedule: { sync_style: 'fixed', explorer_sync_interval: 1, trainer_sync_interval: 1, sync_offset: 0 },
        steps: 1000,
        made: 1,
        needed: 2,
        saveEvery: 1,
        slowMs: { explorer: 50, trainer: 50 },
        timeoutMs: 60 * MINUTE,
      })
      job.start('trainer')
      job.start('explorer')
      await world.run(() => world.statuses.get('trainer')?.state === 'wants_experiences' && world.now > 20_000, MINUTE)
      expect(world.statuses.get('trainer')).toMatchObject({ state: 'wants_experiences', waits_for: expect.any(String) })
      job.kill('trainer')
      const { step } = job.producers.get('explorer')!
      await world.run(() => false, 12 * MINUTE)
      expect(job.producers.get('explorer')!.step - step).toBeLessThanOrEqual(2)
      job.start('trainer')
      await world.run(() => job.producers.get('explorer')!.step > step + 10, 17 * MINUTE)
      expect(job.producers.get('explorer')!.step).toBeGreaterThan(step + 10)
    }
  })
})
