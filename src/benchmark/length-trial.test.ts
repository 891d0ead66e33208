import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { isWrongUse } from '../base/wrong-use.js'
import { tryLength } from './length-trial.js'

/** A trial whose program is a line of JavaScript instead of Trinity. */
function trial(code: string, limits: { memoryBytes?: number } = {}) {
  const dir = mkdtempSync(join(tmpdir(), 'trial-'))
  const script = join(dir, 'program.mjs')
  writeFileSync(script, code)
  const settings = { memoryBytes: 2 ** 40, timeoutSeconds: 600, length: 64, set: [], config: 'x.yaml', ...limits }
  return tryLength({ ...settings, program: [process.execPath, script], log: join(dir, 'log') })
}

describe('a trial of one length', () => {
  it('trains, or has not enough memory, in its own words or by the limit', async () => {
    expect(await trial('')).toMatchObject({ length: 64, end: 'trained' })
    const failed = "console.error('error not enough memory'); process.exitCode = 1"
    expect(await trial(failed)).toMatchObject({ end: 'memory' })
    expect(await trial('setInterval(() => {}, 1000)', { memoryBytes: 1 })).toMatchObject({ end: 'memory' })
  })

  it('is an error where something else is wrong, with the words of the run', async () => {
    const caught = await trial("console.error('error no more rows'); process.exitCode = 1").catch((error) => error)
    expect(caught).toMatchObject({ code: 'benchmark/trial', message: 'a run with 64 tokens failed: no more rows' })
    expect(readFileSync(caught.path, 'utf8')).toContain('no more rows')
  })

  it('is wrong use where the run calls it that', async () => {
    const caught = await trial("console.error('error no such model'); process.exitCode = 2").catch((error) => error)
    expect(caught).toMatchObject({ message: 'no such model', hint: expect.stringContaining('64 tokens') })
    expect(isWrongUse(caught)).toBe(true)
  })
})
