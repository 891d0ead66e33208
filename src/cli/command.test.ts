import { describe, expect, it, vi } from 'vitest'
import { createProgram } from './program.js'

/** What is said to a line that cannot be run. */
async function said(...words: string[]): Promise<string> {
  const err = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  const out = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  try {
    const ended = createProgram(() => {}).parseAsync(['node', 'trinity', ...words])
    await expect(ended).rejects.toMatchObject({ name: 'CommanderError' })
    return [...err.mock.calls, ...out.mock.calls].map(([text]) => String(text)).join('')
  } finally {
    err.mockRestore()
    out.mockRestore()
  }
}

describe('a word that is misspelled is named', () => {
  it.each<[string, string, string | undefined]>([
    ['run --confg x', "unknown option '--confg'", '--config'],
    ['train a.ts --data x --modle y', "unknown option '--modle'", '--model'],
    ['debug -c x --modul workflow', "unknown option '--modul'", '--module'],
    ['model new --ot x', "unknown option '--ot'", '--out'],
    ['perf view --reprt x', "unknown option '--reprt'", '--report'],
    ['convert --checkpoint-dirs x', "unknown option '--checkpoint-dirs'", '--checkpoint-dir'],
    ['help rnu', "unknown command 'rnu'", 'run'],
    ['help nope', "unknown command 'nope'", undefined],
    ['help config chek', "unknown command 'chek'", 'check'],
    ['config help chek', "unknown command 'chek'", 'check'],
  ])('%s', async (line, problem, meant) => {
    const text = await said(...line.split(' '))
    expect(text).toContain(`error: ${problem}\n`)
    if (meant) expect(text).toContain(`(Did you mean ${meant}?)`)
    expect(text).not.toContain('Usage:')
  })

  it('what is missing is still told', async () => {
    expect(await said('run')).toContain("error: required option '-c, --config <file>' not specified")
  })

  it('and help is given', async () => {
    expect(await said('help')).toContain('Usage: trinity [options] [command]')
    expect(await said('help', 'run')).toContain('Usage: trinity run')
    expect(await said('help', 'perf', 'view')).toContain('Usage: trinity perf view')
    // it serves a page: whoever asks for prompts in a script should know
    expect((await said('help', 'view')).replaceAll(/\s+/g, ' ')).toContain('a page for the browser, until Ctrl-C')
    expect(await said('help', 'data', 'countdown')).toContain('Usage: trinity data')
  })
})
