import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeBench, seeded } from '../../scripts/kill-test.mjs'
import { fuzzSeed } from '../fuzz/draw.js'
import { cli } from '../run/cli-kit.js'
import {
  type CrashBench,
  CrashCase,
  choosePoints,
  compileFreezer,
  damageLocks,
  lastPoint,
  type Point,
} from './crash.js'

/** Every writer of durable files: memory, SQL and file buffers, replay, a critic, adapters, stages, processes, modes. */
const NAMES =
  'offset1 critic sql files lora reuse reuse_sql stats isolated supervised stages two_processes explore bench'.split(
    ' ',
  )
const STATES = 2
const seed = fuzzSeed('sample')

describe.skipIf(process.platform !== 'linux')('a state that a killed process leaves behind', () => {
  let bench: CrashBench
  const cases = new Map<string, Promise<CrashCase>>()
  const open = (name: string) => {
    const found = cases.get(name) ?? CrashCase.open(bench, name)
    cases.set(name, found)
    return found
  }
  /** Resumes the state at each point, changed by `damage`; returns what differs from the whole run. */
  const resume = async (one: CrashCase, points: readonly Point[], damage?: 'empty' | 'half') => {
    const states = await one.freeze(points)
    expect(states.length).toBeGreaterThan(0)
    const wrong: string[] = []
    for (const state of states) {
      if (damage) expect(damageLocks(state.folder, damage)).toBe(true)
      const found = await one.resume(state)
      if (found.length > 0) wrong.push(`${state.at}: ${found.slice(0, 5).join('; ')}`)
    }
    return wrong
  }

  beforeAll(async () => {
    const dir = mkdtempSync(join(tmpdir(), 'trinity-crash-'))
    bench = { cli, dir, library: compileFreezer(dir) as string }
    await makeBench(dir, { cli, steps: 6 })
  }, 120_000)
  afterAll(() => rmSync(bench.dir, { recursive: true, force: true }))

  it.each(NAMES)('resumes to the bytes and numbers of a whole run: %s', { timeout: 600_000 }, async (name) => {
    const one = await open(name)
    const points = choosePoints(one.operations, seeded(seed), STATES)
    expect(await resume(one, points), `PROPERTY_SEED=${seed}`).toEqual([])
  })

  it.each(['checkpointed', 'state_dict'])(
    'gets the pointer that was not yet written: latest_%s',
    {
      timeout: 600_000,
    },
    async (name) => {
      const one = await open('supervised')
      const point = lastPoint(one.operations, new RegExp(` rename kill/job/latest_${name}_iteration.txt$`))
      expect(await resume(one, [point])).toEqual([])
    },
  )

  it.each(['empty', 'half'] as const)(
    'is taken over although a power failure has damaged its locks: %s',
    {
      timeout: 600_000,
    },
    async (damage) => {
      const one = await open('offset1')
      const point = lastPoint(one.operations, / rename kill\/job\/trainer_meta.json$/)
      expect(await resume(one, [point], damage)).toEqual([])
    },
  )

  it('gets the evaluation that an isolated run had not finished', { timeout: 600_000 }, async () => {
    const one = await open('isolated')
    expect(await resume(one, [lastPoint(one.operations, / rename kill\/job\/best_eval.json$/)])).toEqual([])
  })

  it('makes the steps whose experiences a killed trainer had taken', { timeout: 600_000 }, async () => {
    const one = await open('two_processes')
    // the last write adds the time of the checkpoint of step 6; the two before it are of steps 5 and 6, whose rows are taken
    const saved = lastPoint(one.operations, /^process1 write kill\/job\/monitor\/trainer.jsonl$/)
    const count = Number(saved.split(' ')[0])
    const points = [count - 2, count - 1].map((nth) => saved.replace(/^\d+/, String(nth)))
    expect(await resume(one, points)).toEqual([])
  })
})
