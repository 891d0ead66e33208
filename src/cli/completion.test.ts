import { spawnSync } from 'node:child_process'
import { afterEach, describe, expect, it, vi } from 'vitest'
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
    [['chat', 'check'], []],
    [['nothing-like-it', 'ru'], ['run']],
  ])('%j: %j', (words, offered) => {
    expect(completed(program, words)).toEqual(offered)
  })

  it('is every command at the beginning', () => {
    expect(completed(program, [''])).toEqual(expect.arrayContaining(['init', 'run', 'studio', 'train']))
    expect(completed(program, [])).toContain('run')
  })
})

function printed(...shell: string[]): string {
  let text = ''
  vi.spyOn(process.stdout, 'write').mockImplementation((part) => {
    text += part
    return true
  })
  completion(program, shell)
  return text
}

describe('a script', () => {
  it('of bash is understood by bash, and asks with the words of the line', () => {
    const fake = `trinity() { local IFS=' '; printf '%s\\n' "asked:$*"; }\nCOMP_WORDS=(trinity run --d)\nCOMP_CWORD=2\n`
    const { stdout, status } = spawnSync('bash', ['-c', `${fake}${printed('bash')}_trinity; echo "\${COMPREPLY[0]}"`], {
      encoding: 'utf8',
    })
    expect({ stdout, status }).toEqual({ stdout: 'asked:completion --words -- run --d\n', status: 0 })
  })

  it('of a shell that nobody knows is refused', () => {
    expect(() => printed('tcsh')).toThrow(/no completion for tcsh/)
    expect(() => printed()).toThrow(/for which shell/)
  })
})
