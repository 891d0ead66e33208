import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { tempDir } from '../../test/support/temp-dir.js'
import { parseYaml } from '../config/yaml.js'
import { datasets, readRecord } from '../dataset/index.js'
import { createProgram } from './program.js'

let printed = ''
beforeEach(() => {
  printed = ''
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    printed += text
    return true
  })
})
afterEach(() => vi.restoreAllMocks())

async function trinity(...args: string[]): Promise<number> {
  let code = -1
  await createProgram((done) => {
    code = done
  }).parseAsync(['node', 'trinity', ...args])
  return code
}

describe('trinity data', () => {
  it('lists all with doc, source and license', async () => {
    expect(await trinity('data')).toBe(0)
    for (const name of datasets.names()) {
      const { doc, source, license } = datasets.get(name)
      for (const text of [name, doc, source, license]) expect(printed).toContain(text)
    }
  })

  it('makes one, says how to use it, and goes on where it stopped', async () => {
    const out = join(await tempDir(), 'cd')
    const words = ['data', 'countdown', '--out', out, '--train', '20', '--test', '5', '--sizes', '3']
    expect(await trinity(...words)).toBe(0)
    expect(printed).toMatch(/train\.jsonl +20 rows +[\d.]+ (Ki)?B\n/)
    expect(printed).toContain('license: none needed')
    const yaml = printed.slice(printed.indexOf('To use it:\n') + 'To use it:\n'.length).replace(/^ {2}/gm, '')
    expect(parseYaml(yaml, 'printed').entries.has('buffer')).toBe(true)
    expect(yaml).toContain(`path: ${out}`)
    printed = ''
    expect(await trinity(...words)).toBe(0)
    expect(printed.match(/was there/g)).toHaveLength(2)
  })

  it('compares with what was written', async () => {
    const out = join(await tempDir(), 'cd')
    await trinity('data', 'countdown', '--out', out, '--train', '3', '--test', '2')
    expect(await trinity('data', 'countdown', '--out', out, '--verify')).toBe(0)
    await writeFile(join(out, 'train.jsonl'), (await readFile(join(out, 'train.jsonl'), 'utf8')).replace(/\d/, '0'))
    printed = ''
    expect(await trinity('data', 'countdown', '--out', out, '--verify')).toBe(1)
    expect(printed).toMatch(/ok +test\.jsonl[\s\S]*changed +train\.jsonl[\s\S]*1 of 2 files differ/)
    await expect(trinity('data', 'countdown', '--out', join(out, 'no'), '--verify')).rejects.toMatchObject({
      code: 'data/not-found',
    })
  })

  it('shows the options of one', async () => {
    expect(await trinity('data', 'countdown', '--help')).toBe(0)
    expect(printed).toContain('--out <dir>')
    expect(printed).toMatch(/--max-target +.*default 1000/)
    printed = ''
    expect(await trinity('data', '--help')).toBe(0)
    expect(printed).toContain('--verify')
  })

  it('refuses names and options that are not there, with the nearest', async () => {
    await expect(trinity('data', 'contdown')).rejects.toMatchObject({ hint: expect.stringContaining("'countdown'") })
    await expect(trinity('data', 'countdown', '--max-targt', '3')).rejects.toMatchObject({
      hint: 'did you mean --max-target?',
    })
    await expect(trinity('data', '--max-target', '3')).rejects.toMatchObject({ code: 'args/invalid' })
  })

  it('Ctrl-C ends it between two rows, and the same command goes on', async () => {
    vi.spyOn(process.stderr, 'write').mockReturnValue(true)
    const out = join(await tempDir(), 'cd')
    const words = ['data', 'countdown', '--out', out, '--train', '100000', '--test', '2', '--sizes', '4']
    // as soon as the first file is there: the other takes seconds
    const timer = setInterval(() => {
      if (!existsSync(join(out, 'test.jsonl'))) return
      clearInterval(timer)
      process.emit('SIGINT')
    }, 20)
    expect(await trinity(...words)).toBe(130)
    expect(Object.keys((await readRecord(out))?.files ?? {})).toEqual(['test.jsonl'])
  })
})
