import { existsSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { pythonTool } from './python-tool.js'
import { callTool } from './tool.js'

const run = async (code: string, timeoutMs?: number, signal?: AbortSignal) =>
  (
    await callTool(
      [pythonTool({ timeoutMs })],
      { name: 'execute_python_code', arguments: JSON.stringify({ code }) },
      signal,
    )
  ).text

describe('Python that the model writes', () => {
  it('gives what it printed, and how it ended', async () => {
    expect(await run('print(6 * 7)')).toBe('<returncode>0</returncode><stdout>42\n</stdout><stderr></stderr>')
    expect(await run('1 / 0')).toMatch(/<returncode>1<\/returncode>.*ZeroDivisionError/s)
  })

  it('knows none of our variables, and leaves no folder', async () => {
    process.env.TRINITY_SECRET_OF_TEST = 'secret'
    const said = await run('import os; print(os.getcwd(), "TRINITY_SECRET_OF_TEST" in os.environ)')
    delete process.env.TRINITY_SECRET_OF_TEST
    const [, folder, found] = /<stdout>(\S+) (\w+)/.exec(said) ?? []
    expect(found).toBe('False')
    expect(existsSync(folder)).toBe(false)
  })

  it('has a limit of time, of output and of memory', async () => {
    const loop = 'import sys\nprint("begun", flush=True)\nwhile True: pass'
    expect(await run(loop, 1500)).toMatch(/<returncode>-1<.*begun.*ended after 1.5 s/s)
    expect((await run('print("x" * 10**6)')).length).toBeLessThan(9000)
    expect(await run('bytearray(10**10)')).toContain('MemoryError')
  })

  it('ends with the rollout', async () => {
    await expect(run('while True: pass', 60_000, AbortSignal.timeout(300))).rejects.toThrow('timeout')
  })
})
