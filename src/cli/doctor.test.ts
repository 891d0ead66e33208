import { describe, expect, it, vi } from 'vitest'
import type { Report } from '../machine/doctor/check.js'
import { doctor } from './doctor.js'

const report: Report = { format: 1, trinity: '1.2.3', platform: 'linux x64', ok: true, checks: [], engines: [] }

describe('doctor', () => {
  const printed = async (options: { json?: boolean }, given: Report) => {
    const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
    const code = await doctor(options, async () => given)
    const text = write.mock.calls.map(([chunk]) => String(chunk)).join('')
    write.mockRestore()
    return { code, text }
  }

  it('prints the report, or all of it as JSON', async () => {
    expect((await printed({}, report)).text).toContain('trinity 1.2.3 on linux x64')
    expect(JSON.parse((await printed({ json: true }, report)).text)).toEqual(report)
  })
  it('a fix is required only where something does not work without it', async () => {
    const check = {
      id: 'addon',
      section: 'runtime',
      name: 'native addon',
      required: true,
      found: 'x',
      fix: 'y',
    } as const
    const said = async (status: 'warning' | 'wrong') =>
      (await printed({}, { ...report, checks: [{ ...check, status }] })).text
    expect(await said('warning')).toMatch(/^ +fix y$/m)
    expect(await said('wrong')).toMatch(/^ +fix \(required\) y$/m)
  })
  it('exits with 1 only when the embedded engine cannot run', async () => {
    expect((await printed({}, report)).code).toBe(0)
    expect((await printed({}, { ...report, ok: false })).code).toBe(1)
  })
})
