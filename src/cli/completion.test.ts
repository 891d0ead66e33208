import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { tempDir } from '../../test/support/temp-dir.js'
import { completed, completion } from './completion.js'
import { createProgram } from './program.js'

const program = createProgram(() => {})
afterEach(() => void vi.restoreAllMocks())

describe('what a line can go on with', () => {
  it.each([
    [['ru'], ['run']],
    [['run', '--dry'], ['--dry-run']],
    [['run', '--dry-run', '--dry'], []],
    [['config', 'che'], ['check']],
    [['config', 'check', '--s'], ['--set']],
    // the value of an option, or an argument: files
    [['run', '--config', 'r'], []],
    [['run', '-c', ''], []],
    [['chat', 'doct'], []],
    [['nothing-like-it', 'ru'], ['run']],
    // values that have names
    [
      ['init', '--sdk', 'open'],
      ['openai', 'openai-agents'],
    ],
    [
      ['model', 'new', '--arch', 'q'],
      ['qwen2', 'qwen3'],
    ],
    [['log', '-l', 'W'], ['WARNING']],
    [
      ['completion', ''],
      ['bash', 'fish', 'zsh'],
    ],
    [['run', '--set', 'buffer.batch'], ['buffer.batch_size=']],
    [
      ['run', '--set', 'mode=b'],
      ['mode=bench', 'mode=both'],
    ],
    // as bash breaks it
    [
      ['run', '--set', 'mode', '=', 'b'],
      ['bench', 'both'],
    ],
    [['run', '--set', 'algorithm.algorithm_type', '=', 'gsp'], ['gspo']],
  ])('%j: %j', async (words, offered) => {
    expect(await completed(program, words)).toEqual(offered)
  })

  it('is every command at the beginning', async () => {
    expect(await completed(program, [''])).toEqual(expect.arrayContaining(['init', 'run', 'studio', 'train']))
    expect(await completed(program, [])).toContain('run')
  })
})

async function printed(...shell: string[]): Promise<string> {
  let text = ''
  vi.spyOn(process.stdout, 'write').mockImplementation((part) => {
    text += part
    return true
  })
  await completion(program, shell)
  return text
}

describe('a script', () => {
  it('of bash is understood by bash, and asks with the words of the line', async () => {
    const fake = `trinity() { local IFS=' '; printf '%s\\n' "asked:$*"; }\nCOMP_WORDS=(trinity run --d)\nCOMP_CWORD=2\n`
    const { stdout, status } = spawnSync(
      'bash',
      ['-c', `${fake}${await printed('bash')}_trinity; echo "\${COMPREPLY[0]}"`],
      {
        encoding: 'utf8',
      },
    )
    expect({ stdout, status }).toEqual({ stdout: 'asked:completion --words -- run --d\n', status: 0 })
  })

  it.each([
    ['npx trinity run --d', 'asked:completion --words -- run --d'],
    ['npx trinity', ''],
    ['npx vitest run', ''],
    ['trinity ru', 'asked:completion --words -- ru'],
  ])('of bash completes %j in a project, where trinity is not on the PATH', async (line, offered) => {
    const dir = await tempDir()
    mkdirSync(join(dir, 'node_modules/.bin'), { recursive: true })
    writeFileSync(join(dir, 'node_modules/.bin/trinity'), '#!/bin/sh\necho "asked:$*"\n', { mode: 0o755 })
    const words = line.split(' ')
    const typed = `COMP_WORDS=(${line})\nCOMP_CWORD=${words.length - 1}\n`
    const { stdout } = spawnSync('bash', ['-c', `${typed}${await printed('bash')}_trinity; echo "\${COMPREPLY[0]}"`], {
      cwd: dir,
      encoding: 'utf8',
      env: { PATH: '/usr/bin:/bin' },
    })
    expect(stdout.trim()).toBe(offered)
  })

  it.each(['zsh', 'fish'])('of %s is understood by it, where it is installed', async (shell) => {
    const file = join(await tempDir(), 'script')
    writeFileSync(file, await printed(shell))
    const { error, status, stderr } = spawnSync(shell, ['-n', file], { encoding: 'utf8' })
    if (!error) expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  })

  it('of a shell that nobody knows is refused', async () => {
    await expect(printed('tcsh')).rejects.toThrow(/no completion for tcsh/)
    await expect(printed()).rejects.toThrow(/which shell/)
  })
})
