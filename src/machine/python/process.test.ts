import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../test/support/processes.js'
import { tempDir } from '../../../test/support/temp-dir.js'
import { PythonProcess, type PythonProcessSettings } from './process.js'

/** A program that is started as Python is. */
async function start(script: string, settings: Partial<PythonProcessSettings> = {}) {
  const python = join(await tempDir(), 'python')
  await writeFile(python, `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  return new PythonProcess({ python, module: 'some_module', ...settings })
}

describe('PythonProcess', () => {
  it('runs the module with our packages on the path, and keeps what it says', async () => {
    const lines: string[] = []
    const started = await start('echo "$@"; echo "$PYTHONPATH $WORD" >&2; exit 3', {
      env: { WORD: 'given' },
      log: (line) => lines.push(line),
    })
    expect(await started.exited).toEqual({ code: 3, signal: null })
    await expect.poll(() => lines.length).toBe(2)
    expect(lines.sort()).toEqual(['-u -m some_module', expect.stringMatching(/python(:.*)? given$/)])
    expect(started.log.last().sort()).toEqual(lines)
  })

  it('leaves standard output to its reader, and ends when its input ends', async () => {
    const started = await start('cat', { output: 'data' })
    started.input.write('over and back')
    started.keepsAlive(true)
    const said = await new Promise<string>((resolve) => started.output.once('data', (data) => resolve(String(data))))
    expect(said).toBe('over and back')
    expect(started.log.last()).toEqual([])
    started.leave()
    expect(await started.exited).toEqual({ code: 0, signal: null })
  })

  it('ends with all that it started', async () => {
    const started = await start('sleep 100 & echo $!; wait')
    await expect.poll(() => started.log.last().length).toBe(1)
    const child = Number(started.log.last()[0])
    started.kill()
    expect(await started.exited).toEqual({ code: null, signal: 'SIGKILL' })
    await expect.poll(() => runs(child)).toBe(false)
  })

  it('says when there is no such program', async () => {
    const { exited } = new PythonProcess({ python: '/no/such/python', module: 'x' })
    expect((await exited).error?.code).toBe('ENOENT')
  })
})
