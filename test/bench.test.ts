import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it } from 'vitest'

const folder = resolve(import.meta.dirname, '..', 'bench')
const lib = await import(pathToFileURL(join(folder, 'lib.mjs')).href)
const run = (...args: string[]) => spawnSync(process.execPath, [join(folder, 'run.mjs'), ...args], { encoding: 'utf8' })

describe('bench/lib', () => {
  it('median', () => {
    expect(lib.median([3, 1, 2])).toBe(2)
    expect(lib.median([4, 1, 2, 3])).toBe(2.5)
  })
  it('turns the order of the cases and leaves out the warm-up', async () => {
    const order: string[] = []
    const cases = { a: () => order.push('a'), b: () => order.push('b'), c: () => order.push('c') }
    const results = await lib.interleave(cases, { rounds: 3, warmup: 0 })
    expect(order.join('')).toBe('abcbcacab')
    expect(results.a.times).toHaveLength(3)
    const warm = await lib.interleave(cases, { rounds: 2, warmup: 2 })
    expect(warm.b.times).toHaveLength(2)
  })
  it('takes the ratio within each round, so that a slow round does not count', () => {
    const results = { base: { times: [10, 1000, 10] }, other: { times: [20, 2000, 21] } }
    expect(lib.ratio(results, 'other', 'base')).toBe(2)
  })
  it('prints three digits and says whether a target is met', () => {
    expect([0, 0.01234, 1.234, 12.34, 1234.5].map(lib.format)).toEqual(['0', '0.0123', '1.23', '12.3', '1235'])
    const one = { median: 2, min: 1, times: [2] }
    const rows = lib.ratioRows({ base: { ...one, times: [1] }, slow: one }, 'base', { slow: 1.5 })
    const lines: string[] = []
    lib.printTable(rows, (line: string) => lines.push(line))
    expect(lines).toHaveLength(3)
    expect(lines[2]).toContain('MISSED')
  })
})

describe('bench/run', () => {
  it('lists every benchmark, each of which loads', () => {
    const { status, stdout } = run('--list')
    expect(status).toBe(0)
    const names = readdirSync(folder).filter((name) => !/^(run|lib)\.mjs$/.test(name) && !name.startsWith('.'))
    for (const name of names.filter((n) => n.endsWith('.mjs'))) expect(stdout).toContain(name.replace('.mjs', ''))
    expect(stdout).not.toContain('cannot be loaded')
    expect(stdout).not.toContain('undefined')
  })
  it('names what there is when asked for what there is not', () => {
    const { status, stderr } = run('no-such-benchmark')
    expect(status).toBe(2)
    expect(stderr).toContain('cli')
  })
})
