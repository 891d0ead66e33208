import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { listeningLogger } from '../../test/mock-service.js'
import { parseConfig } from '../config/index.js'
import { GuardedMonitor } from './guarded.js'
import type { Monitor } from './monitor.js'
import { openMonitor } from './open.js'
import { createView } from './terminal/create.js'

const root = mkdtempSync(join(tmpdir(), 'trinity-monitor-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

let count = 0
const configOf = (type: string, args = '{}', dir = join(root, String(count++))) => {
  const { config } = parseConfig(`monitor: {monitor_type: ${type}, monitor_args: ${args}}\n`, 'test.yaml').stages[0]
  return { ...config, monitor: { ...config.monitor, cache_dir: dir } }
}

describe('GuardedMonitor', () => {
  const failing: Monitor = {
    log: () => {
      throw new Error('disk full')
    },
    table: () => {},
    rewind: () => {},
    close: async () => {
      throw new Error('again')
    },
  }

  it('reports a failing monitor once, goes on with the others, and counts', async () => {
    const logger = listeningLogger()
    const got: number[] = []
    const sound: Monitor = { log: (_, step) => void got.push(step), table() {}, rewind() {}, close: async () => {} }
    const monitor = new GuardedMonitor(
      [
        { name: 'bad', monitor: failing },
        { name: 'good', monitor: sound },
      ],
      logger,
    )
    for (const step of [1, 2, 3]) monitor.log({ a: 1 }, step)
    monitor.log({ a: 1 }, Number.NaN)
    await monitor.close()
    expect(got).toEqual([1, 2, 3])
    expect(logger.lines.filter((line) => line.includes('bad failed') && line.includes('disk full'))).toHaveLength(1)
    expect(logger.lines.at(-1)).toContain('monitor bad: 5 failures')
  })

  it('never throws, whatever it is given', async () => {
    const anything = fc.oneof(
      fc.double(),
      fc.constantFrom(NaN, Infinity, -Infinity, -0, 1e308),
      fc.string(),
      fc.anything(),
    )
    const names = fc.oneof(
      fc.string(),
      fc.string({ minLength: 2000, maxLength: 5000 }),
      fc.constantFrom('__proto__', ''),
    )
    const metrics = fc.dictionary(names, anything) as fc.Arbitrary<Record<string, number>>
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(metrics, fc.oneof(fc.integer(), fc.double()))), async (calls) => {
        const view = createView({ stream: { write: () => true }, isTTY: false })
        for (const type of ['tensorboard', 'console', 'jsonl', 'none']) {
          const monitor = await openMonitor({ config: configOf(type), role: 'trainer', logger: listeningLogger() })
          for (const [numbers, step] of calls) {
            monitor.log(numbers, step)
            view.metrics('trainer', step, numbers)
          }
          monitor.table('t', [{ any: 1 }], 1)
          monitor.rewind(3)
          await monitor.close()
        }
        view.close()
      }),
      { numRuns: 15 },
    )
  })
})

describe('openMonitor', () => {
  it('writes lines beside any monitor, and tables', async () => {
    const config = configOf('tensorboard')
    const { cache_dir: dir } = config.monitor
    const monitor = await openMonitor({ config, role: 'explorer', logger: listeningLogger() })
    monitor.log({ a: 1 }, 1)
    monitor.table('samples', [{ text: 'x' }], 1)
    monitor.table('samples', [{ text: 'y' }], 2)
    monitor.log({ a: 2 }, 2)
    monitor.rewind(1)
    await monitor.close()
    expect(existsSync(join(dir, 'tensorboard/explorer'))).toBe(true)
    const lines = (file: string) =>
      readFileSync(join(dir, file), 'utf8')
        .trimEnd()
        .split('\n')
        .map((l) => JSON.parse(l))
    expect(lines('explorer.jsonl')).toMatchObject([{ step: 1, metrics: { a: 1 } }])
    expect(lines('explorer_samples.jsonl')).toEqual([{ step: 1, rows: [{ text: 'x' }] }])
  })

  it('writes every number into the log for console, and nothing at all for none', async () => {
    const logger = listeningLogger()
    const monitor = await openMonitor({ config: configOf('console'), role: 'trainer', logger })
    monitor.log({ 'a/b': 0.123456789, c: Number.NaN }, 7)
    await monitor.close()
    expect(logger.lines).toEqual(['info step 7: a/b 0.123457, c NaN'])
    const config = configOf('none')
    const none = await openMonitor({ config, role: 'trainer', logger })
    none.log({ a: 1 }, 1)
    await none.close()
    expect(existsSync(config.monitor.cache_dir)).toBe(false)
  })

  it('says what is wrong with the settings', async () => {
    const open = (type: string, args?: string) =>
      openMonitor({ config: configOf(type, args), role: 'trainer', logger: listeningLogger() })
    await expect(open('swanlab')).rejects.toThrow('not part of this version')
    await expect(open('mlflow', '{url: x}')).rejects.toThrow(/url/)
    await expect(open('my_package.monitors.Mine')).rejects.toMatchObject({ hint: expect.stringContaining('plugin') })
  })
})
