import { spawnSync } from 'node:child_process'
import { appendFileSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { MetricsFile } from './metrics-file.js'

const dir = mkdtempSync(join(tmpdir(), 'trinity-metrics-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

describe('MetricsFile', () => {
  let path: string
  let count = 0
  beforeEach(() => {
    path = join(dir, `${count++}.jsonl`)
  })
  const lines = () => readFileSync(path, 'utf8').split('\n').slice(0, -1)
  const open = () => new MetricsFile(path, () => 5000)

  it('has one object for each step, whatever arrives in how many pieces', async () => {
    const file = open()
    file.log({}, 1)
    file.log({ a: 1, 'b/c@2': Number.NaN }, 1)
    file.log({ d: -Infinity }, 1)
    file.log({ a: 2 }, 2)
    await file.close()
    expect(lines().map((line) => JSON.parse(line))).toEqual([
      { step: 1, time: 5, metrics: { a: 1, 'b/c@2': 'NaN', d: '-Infinity' } },
      { step: 2, time: 5, metrics: { a: 2 } },
    ])
    const again = open()
    again.log({ e: 3 }, 2)
    expect(again.rows()[1]).toEqual({ step: 2, time: 5, metrics: { a: 2, e: 3 } })
    expect(again.rows()[0].metrics).toEqual({ a: 1, 'b/c@2': Number.NaN, d: -Infinity })
  })

  it('takes the later of two values, also of a step further back', () => {
    const file = open()
    for (const step of [1, 2, 3]) file.log({ a: step, b: step }, step)
    file.log({ a: 30 }, 3)
    file.log({ a: 10 }, 1)
    expect(file.rows().map(({ step, metrics }) => [step, metrics.a, metrics.b])).toEqual([
      [1, 10, 1],
      [2, 2, 2],
      [3, 30, 3],
    ])
  })

  it('rewinds', () => {
    const file = open()
    for (const step of [0, 1, 2, 3]) file.log({ a: step }, step)
    file.rewind(1)
    file.log({ b: 1 }, 1)
    file.log({ a: 20 }, 2)
    expect(file.rows().map(({ metrics }) => metrics)).toEqual([{ a: 0 }, { a: 1, b: 1 }, { a: 20 }])
    expect(lines()).toHaveLength(3)
    file.rewind(-1)
    expect(lines()).toEqual([])
  })

  it('loses nothing that was there when the addition to a step was cut', () => {
    const file = open()
    file.log({ a: 1 }, 1)
    file.log({ a: 2, b: 3 }, 2)
    const before = readFileSync(path)
    file.log({ c: 0.125, 'd,"x': 7 }, 2)
    const after = readFileSync(path)
    // what a write that ends after n bytes leaves: old bytes stay where nothing was written
    for (let n = before.length - 3; n <= after.length; n++) {
      writeFileSync(path, Buffer.concat([after.subarray(0, n), before.subarray(n)]))
      const rows = open().rows()
      expect(rows[0]).toEqual({ step: 1, time: 5, metrics: { a: 1 } })
      expect(rows[1].metrics).toMatchObject({ a: 2, b: 3 })
      expect([0.125, undefined]).toContain(rows[1].metrics.c)
    }
  })

  it('leaves out a line that was cut, wherever, and goes on behind it', () => {
    const file = open()
    file.log({ a: 1 }, 1)
    const first = readFileSync(path).length
    file.log({ a: 12345, b: 2 }, 2)
    const whole = readFileSync(path)
    for (let size = first; size < whole.length; size++) {
      writeFileSync(path, whole)
      truncateSync(path, size)
      const again = open()
      const rows = again.rows()
      expect(rows[0].metrics).toEqual({ a: 1 })
      if (rows[1]) expect([12345, undefined]).toContain(rows[1].metrics.a)
      again.log({ z: 1 }, 3)
      expect(again.rows().at(-1)).toMatchObject({ step: 3, metrics: { z: 1 } })
      expect(() => lines().map((line) => JSON.parse(line))).not.toThrow()
    }
  })

  it('keeps everything that was logged before a kill', () => {
    const source = join(import.meta.dirname, 'metrics-file.ts')
    const script = join(dir, 'writer.mjs')
    const bundle = spawnSync('npx', [
      'esbuild',
      source,
      '--bundle',
      '--format=esm',
      '--platform=node',
      `--outfile=${script}`,
    ])
    expect(bundle.status).toBe(0)
    appendFileSync(
      script,
      `\nconst file = new MetricsFile(process.argv[2])
       for (let step = 1; ; step++) {
         file.log({ a: step }, step)
         file.log({ b: step }, step)
         if (step === 500) process.kill(process.pid, 'SIGKILL')
       }`,
    )
    const killed = spawnSync(process.execPath, [script, path])
    expect(killed.signal).toBe('SIGKILL')
    const rows = open().rows()
    expect(rows).toHaveLength(500)
    expect(rows.every(({ step, metrics }) => metrics.a === step && metrics.b === step)).toBe(true)
  })

  it('gives back any numbers under any names', () => {
    const metrics = fc.dictionary(fc.string(), fc.double())
    fc.assert(
      fc.property(fc.array(fc.tuple(metrics, fc.integer({ min: 0, max: 5 })), { maxLength: 12 }), (calls) => {
        rmSync(path, { force: true })
        const file = open()
        const expected = new Map<number, Record<string, number>>()
        for (const [numbers, step] of calls) {
          file.log(numbers, step)
          expected.set(step, { ...expected.get(step), ...numbers })
        }
        const again = open().rows()
        expect(new Map(again.map((row) => [row.step, row.metrics]))).toEqual(expected)
        void file.close()
      }),
      { numRuns: 60 },
    )
  })
})
