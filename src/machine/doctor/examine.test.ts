import { describe, expect, it } from 'vitest'
import { fakeHost } from '../../../test/fake-host.js'
import { blocks, SECTIONS } from './check.js'
import { examine } from './examine.js'
import { localHost } from './host.js'
import { renderReport } from './render.js'

const ENGINES = [{ name: 'one', verdict: () => ({ ready: true, why: 'here' }) }]

describe('examine', () => {
  it('gives a whole report of this machine', async () => {
    const report = await examine(ENGINES)
    expect(report.format).toBe(1)
    expect(report.ok).toBe(!report.checks.some(blocks))
    for (const section of SECTIONS) expect(report.checks.some((check) => check.section === section)).toBe(true)
    const ids = report.checks.map((check) => check.id)
    expect(new Set(ids).size).toBe(ids.length)
    for (const check of report.checks) if (check.status !== 'ok') expect(check.fix, check.id).toBeTruthy()
    expect(JSON.parse(JSON.stringify(report))).toEqual(report)
  })
  it('says in words what the report holds', async () => {
    const report = await examine(ENGINES, fakeHost())
    const text = renderReport(report)
    for (const check of report.checks) expect(text).toContain(check.found)
    expect(text).toContain(report.ok ? 'can run' : 'cannot run')
  })
  it('survives a probe that throws, and says which', async () => {
    const host = {
      ...localHost(),
      read: () => {
        throw new Error('read is broken')
      },
    }
    const report = await examine(ENGINES, host)
    const cpu = report.checks.filter((check) => check.section === 'cpu')
    expect(cpu).toMatchObject([{ id: 'cpu', status: 'wrong', found: 'could not be examined: read is broken' }])
    expect(report.checks.some((check) => check.section === 'disk')).toBe(true)
  })
})
