import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CASES, makeBench, seeded } from '../../scripts/kill-test.mjs'
import { fuzzSeed } from '../fuzz/draw.js'
import { cli } from '../run/cli-kit.js'
import { type CrashBench, CrashCase, choosePoints, compileFreezer, damageLocks } from './crash.js'

const { CRASH_STATES = 'Infinity', CRASH_CASES } = process.env
const seed = fuzzSeed('nightly')
const names = CRASH_CASES?.split(',') ?? Object.keys(CASES)

let bench: CrashBench

beforeAll(async () => {
  const dir = mkdtempSync(join(tmpdir(), 'trinity-crash-'))
  const library = compileFreezer(dir)
  if (library === undefined) throw new Error('crash states need Linux')
  bench = { cli, dir, library }
  await makeBench(dir, { cli, steps: 6 })
}, 120_000)
afterAll(() => rmSync(bench.dir, { recursive: true, force: true }))

describe.concurrent('a state that a killed process leaves behind', () => {
  it.each(names)('resumes to the bytes and numbers of a whole run: %s', { timeout: 14_400_000 }, async (name) => {
    const random = seeded(seed)
    const one = await CrashCase.open(bench, name)
    const states = await one.freeze(choosePoints(one.operations, random, Number(CRASH_STATES)))
    const wrong: string[] = []
    for (const state of states) {
      const damage = (['none', 'empty', 'half'] as const)[Math.floor(random() * 3)]
      const isDamaged = damage !== 'none' && damageLocks(state.folder, damage)
      const found = await one.resume(state)
      if (found.length > 0)
        wrong.push(`${state.at}${isDamaged ? ` (${damage} locks)` : ''}: ${found.slice(0, 3).join('; ')}`)
    }
    console.log(`${name}: ${states.length} states, ${wrong.length} wrong`)
    expect(wrong, `PROPERTY_SEED=${seed}`).toEqual([])
    expect(states.length).toBeGreaterThan(0)
  })
})
