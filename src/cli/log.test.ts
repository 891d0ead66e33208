import { spawn } from 'node:child_process'
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { log } from './log.js'

const dir = mkdtempSync(join(tmpdir(), 'trinity-log-cli-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

async function output(options: Parameters<typeof log>[0]): Promise<string> {
  let text = ''
  const write = vi.spyOn(process.stdout, 'write').mockImplementation((chunk) => {
    text += chunk
    return true
  })
  try {
    expect(await log({ follow: false, color: false, ...options })).toBe(0)
  } finally {
    write.mockRestore()
  }
  return text
}

describe('trinity log', () => {
  const config = join(dir, 'run.yaml')
  beforeAll(() => {
    const yaml = `project: p\nname: n\ncheckpoint_root_dir: ${dir}\nmodel: {model_path: /nowhere/at/all}\n`
    writeFileSync(config, yaml)
  })

  it('finds the folder of a configuration, whose model need not be there', async () => {
    await expect(log({ config })).rejects.toMatchObject({ code: 'cli/no-logs' })
    mkdirSync(join(dir, 'p/n/log'), { recursive: true })
    writeFileSync(join(dir, 'p/n/log/trainer.log'), 'INFO 1\nERROR 2\n')
    expect(await output({ config })).toBe('trainer INFO 1\ntrainer ERROR 2\n')
    expect(await output({ logDir: join(dir, 'p/n/log'), level: 'error' })).toBe('trainer ERROR 2\n')
    expect(await output({ config, lastNLines: '1', keyword: 'train' })).toBe('trainer ERROR 2\n')
    expect(await output({ config, keyword: 'explorer' })).toBe('')
  })

  it('follows the overrides that the run was started with', async () => {
    mkdirSync(join(dir, 'p/other/log'), { recursive: true })
    writeFileSync(join(dir, 'p/other/log/trainer.log'), 'INFO other\n')
    expect(await output({ config, set: ['name=other'] })).toBe('trainer INFO other\n')
  })

  it.each([
    [{}, 'either'],
    [{ logDir: 'a', config: 'b' }, 'either'],
    [{ logDir: dir, level: 'loud' }, 'unknown level'],
    [{ logDir: dir, lastNLines: 'x' }, 'number of lines'],
    [{ logDir: join(dir, 'nowhere') }, 'no folder'],
  ])('%j is refused', async (options, message) => {
    await expect(log(options)).rejects.toThrow(message)
  })

  it('follows until Ctrl-C, which is no failure', async () => {
    const script = join(dir, 'log.mjs')
    const source = `import { log } from ${JSON.stringify(join(import.meta.dirname, 'log.ts'))}
      process.exitCode = await log({ logDir: process.argv[2], color: false })`
    await build({
      stdin: { contents: source, resolveDir: import.meta.dirname, loader: 'ts' },
      bundle: true,
      platform: 'node',
      format: 'esm',
      outfile: script,
      banner: { js: "import { createRequire as from } from 'node:module'; const require = from(import.meta.url);" },
      logLevel: 'error',
    })
    const logs = join(dir, 'live')
    mkdirSync(logs)
    const file = join(logs, 'a.log')
    writeFileSync(file, 'INFO old\n')
    const child = spawn(process.execPath, [script, logs])
    let text = ''
    child.stdout.on('data', (chunk) => {
      text += chunk
    })
    const code = new Promise((resolve) => child.on('exit', resolve))
    const writing = setInterval(() => appendFileSync(file, 'INFO new\n'), 50)
    await vi.waitFor(() => expect(text).toContain('a INFO new\n'), { timeout: 20_000 })
    clearInterval(writing)
    child.kill('SIGINT')
    expect(await code).toBe(0)
    expect(text).not.toContain('old')
  })
})
