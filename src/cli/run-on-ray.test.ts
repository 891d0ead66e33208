import { describe, expect, it, vi } from 'vitest'
import { exitOf, submissionOf } from './run-on-ray.js'

const caller = { cwd: "/a b's", program: ['/usr/bin/node', '/opt/trinity.js'], env: {} }
const job = { status: 'FAILED', hasEnded: true, message: '', exitCode: undefined } as const

describe('the job that a command becomes', () => {
  it('is the command in its folder, whatever stands in it', () => {
    const flags = { config: 'x y.yaml', set: ['name=$(date)'], pluginDir: ['p'], fresh: true, ray: true }
    const { entrypoint, id } = submissionOf(flags, 'my run/1', caller)
    expect(entrypoint).toContain("cd '/a b'\\''s' || {")
    expect(entrypoint).toMatch(
      /exec \/usr\/bin\/node \/opt\/trinity\.js run -c 'x y\.yaml' --plugin-dir p --set 'name=\$\(date\)' --fresh --yes$/,
    )
    expect(id).toMatch(/^trinity-my-run-1-[0-9a-f]{8}$/)
  })
  it('takes along how Trinity is set up, and no secret', () => {
    const env = { TRINITY_PYTHON: '/py', TRINITY_API_KEY: 'k', HF_TOKEN: 't', HF_HOME: '/hf', PATH: '/bin' }
    const { env: sent } = submissionOf({ config: 'c' }, 'n', { ...caller, env })
    expect(sent).toEqual({ TRINITY_PYTHON: '/py', HF_HOME: '/hf', RAY_JOB_STOP_WAIT_TIME_S: '30' })
    const set = ['explorer.rollout_model.api_key=9f86d081884c7d659a2f']
    expect(() => submissionOf({ config: 'c', set }, 'n', caller)).toThrow('would be shown')
  })
})

describe('how it ended', () => {
  it('is passed on', () => {
    expect(exitOf({ ...job, status: 'SUCCEEDED' }, 'j', undefined)).toBe(0)
    expect(exitOf({ ...job, exitCode: 2 }, 'j', undefined)).toBe(2)
  })
  it('is said where it is no exit code of ours', () => {
    expect(() => exitOf({ ...job, exitCode: 127 }, 'j', undefined)).toThrow('job j failed with exit code 127')
    expect(() => exitOf({ ...job, exitCode: 0 }, 'j', undefined)).toThrow('job j failed with exit code 0')
    expect(() => exitOf({ ...job, message: 'no \u001b[2Jnode\nmore' }, 'j', undefined)).toThrow(
      'job j failed: no [2Jnode',
    )
    expect(() => exitOf({ ...job, status: 'STOPPED' }, 'j', undefined)).toThrow('stopped by somebody else')
  })
  it('is our signal where we asked for it', () => {
    const said = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
    expect(exitOf({ ...job, status: 'STOPPED' }, 'j', 130)).toBe(130)
    said.mockRestore()
  })
})
