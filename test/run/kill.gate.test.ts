import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { differences, killOnce, makeBench, resultOf, runCase, seeded } from '../../scripts/kill-test.mjs'
import { cli } from './cli-kit.js'

const KILLS = 5
const NAMES = ['offset0', 'offset1', 'interval2']
/** Replay with an explorer that is ahead, and reuse without a pause: where speed could show. */
const REPLAYS = ['replay', 'reuse']
/** A trainer in a process of its own, and workers that are processes. */
const PROCESSES = ['two_processes', 'isolated']

describe('a run that is killed', () => {
  let dir: string

  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'trinity-kill-'))
    await makeBench(dir, { cli, steps: 6 })
  })
  afterAll(() => rmSync(dir, { recursive: true, force: true }))

  it('and started again ends with the bytes and numbers of one that was not', { timeout: 480_000 }, async () => {
    const random = seeded(11)
    const whole = new Map<string, { expected: ReturnType<typeof resultOf>; seconds: number }>()
    let kills = 0
    for (let turn = 0; kills < KILLS; turn++) {
      const name = NAMES[turn % NAMES.length]
      if (!whole.has(name)) {
        const begun = Date.now()
        const { code, output } = await runCase(cli, dir, name, join(dir, `whole-${name}`)).done
        expect(code, output).toBe(0)
        const expected = resultOf(join(dir, `whole-${name}`))
        expect(expected.files.size).toBeGreaterThan(4)
        expect(Object.keys(expected.metrics).length).toBeGreaterThan(100)
        whole.set(name, { expected, seconds: (Date.now() - begun) / 1000 })
      }
      const known = whole.get(name)!
      const result = await killOnce({ cli, dir, name, random, most: Math.min(2, KILLS - kills), ...known })
      expect(result.differences, result.out).toEqual([])
      kills += result.kills
    }
    // The comparison sees what it should: two cases differ in files and in numbers.
    const [first, second] = [...whole.values()]
    const found = differences(first.expected, second.expected)
    expect(found.some((line: string) => line.includes('.safetensors'))).toBe(true)
    expect(found.some((line: string) => line.includes('instead became'))).toBe(true)
  })

  it.each(REPLAYS)('or is slow makes no difference to what is replayed: %s', { timeout: 480_000 }, async (name) => {
    const whole = async (out: string, slowMs: number) => {
      const begun = Date.now()
      const { code, output } = await runCase(cli, dir, name, join(dir, out), { slowMs }).done
      expect(code, output).toBe(0)
      return { expected: resultOf(join(dir, out)), seconds: (Date.now() - begun) / 1000 }
    }
    const fast = await whole(`fast-${name}`, 0)
    const slow = await whole(`slow-${name}`, 150)
    expect(differences(fast.expected, slow.expected)).toEqual([])
    const result = await killOnce({ cli, dir, name, random: seeded(42), most: 2, ...fast })
    expect(result.differences, result.out).toEqual([])
  })

  it.each(PROCESSES)('makes every step when any of its processes is killed: %s', { timeout: 480_000 }, async (name) => {
    const begun = Date.now()
    const out = join(dir, `whole-${name}`)
    const { code, output } = await runCase(cli, dir, name, out).done
    expect(code, output).toBe(0)
    const whole = { expected: resultOf(out), seconds: (Date.now() - begun) / 1000 }
    const result = await killOnce({ cli, dir, name, random: seeded(7), most: 4, ...whole })
    expect(result.differences, result.out).toEqual([])
  })
})
