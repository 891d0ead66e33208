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
  it('exits with 1 only when the embedded engine cannot run', async () => {
    expect((await printed({}, report)).code).toBe(0)
    expect((await printed({}, { ...report, ok: false })).code).toBe(1)
  })
})
