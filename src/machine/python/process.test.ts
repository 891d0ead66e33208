import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
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
})
