import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { parse } from 'yaml'
import { parseConfig } from '../config/load.js'
import { importVerl } from './import-verl.js'
import { exitCodeOf } from './print.js'

const SCRIPT =
  'python3 -m verl.trainer.main_ppo algorithm.adv_estimator=grpo data.truncation=left trainer.project_name=p\n'

describe('trinity import-verl', () => {
  let folder: string
  let out: string
  let err: string

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'import-verl-'))
    out = ''
    err = ''
    vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
      out += text
      return true
    })
    vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
      err += text
      return true
    })
    writeFileSync(join(folder, 'run.sh'), SCRIPT)
  })
  afterEach(() => {
    vi.restoreAllMocks()
    rmSync(folder, { recursive: true })
  })

  it('prints the YAML, and what has no counterpart to standard error', async () => {
    expect(await importVerl(join(folder, 'run.sh'))).toBe(0)
    expect(parse(out).project).toBe('p')
    expect(out).toContain('# Imported from run.sh, line 1: verl.trainer.main_ppo')
    expect(err).toContain('1 settings have no counterpart')
    expect(err).toContain('data.truncation=left')
  })

  it('writes a file that the configuration loader accepts, and does not overwrite it unasked', async () => {
    const output = join(folder, 'out.yaml')
    expect(await importVerl(join(folder, 'run.sh'), { output })).toBe(0)
    expect(out).toBe('')
    expect(err).toContain(`wrote ${output}`)
    expect(() => parseConfig(readFileSync(output, 'utf8'), output, { env: { HOME: '/home/x' } })).not.toThrow()
    const error = await importVerl(join(folder, 'run.sh'), { output }).catch((e) => e)
    expect(error).toMatchObject({ code: 'verl/output-exists' })
    expect(exitCodeOf(error)).toBe(2)
    expect(await importVerl(join(folder, 'run.sh'), { output, force: true })).toBe(0)
  })

  it('reads standard input', async () => {
    vi.spyOn(process, 'stdin', 'get').mockReturnValue(Readable.from([SCRIPT]) as typeof process.stdin)
    expect(await importVerl('-')).toBe(0)
    expect(parse(out).project).toBe('p')
  })

  it('says what is wrong with a file that is not there or not veRL', async () => {
    await expect(importVerl(join(folder, 'none.sh'))).rejects.toMatchObject({ code: 'verl/unreadable' })
    writeFileSync(join(folder, 'other.sh'), 'ls\n')
    await expect(importVerl(join(folder, 'other.sh'))).rejects.toMatchObject({ code: 'verl/no-launch' })
    await expect(importVerl(join(folder, 'run.sh'), { output: join(folder, 'no', 'dir.yaml') })).rejects.toMatchObject({
      code: 'verl/unwritable',
    })
  })
})
