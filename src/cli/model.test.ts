import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createProgram } from './program.js'

const root = await mkdtemp(join(tmpdir(), 'trinity-cli-model-'))
afterAll(() => rm(root, { recursive: true }))

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

/** Commands of the shell blocks of a page, split into words as a shell does. */
async function commandsOf(page: string): Promise<string[][]> {
  const text = await readFile(new URL(`../../docs/${page}`, import.meta.url), 'utf8')
  const blocks = [...text.matchAll(/```sh\n([\s\S]*?)```/g)].flatMap(([, block]) => block.trim().split('\n'))
  return blocks.map((line) => [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare))
}

describe('trinity model', () => {
  it('runs every command of docs/models.md', async () => {
    // a file that somebody else has made is for test/run/gguf.gate.test.ts
    const commands = (await commandsOf('models.md')).filter((words) => !words.some((word) => word.endsWith('.gguf')))
    const ordered = commands.toSorted((a, b) => Number(b.includes('new')) - Number(a.includes('new')))
    expect(ordered.length).toBeGreaterThan(4)
    for (const [npx, name, ...args] of ordered) {
      expect([npx, name]).toEqual(['npx', 'trinity'])
      const here = args.map((arg) => arg.replace(/^(from:)?models\//, `$1${root}/`))
      expect(await trinity(...here)).toBe(0)
    }
    expect(printed).toContain('Qwen3ForCausalLM')
    expect(printed).toMatch(/training +\d/)
  })

  it('refuses wrong options and says what to do', async () => {
    const out = join(root, 'wrong')
    await expect(trinity('model', 'new', '--out', out, '--arch', 'lama')).rejects.toMatchObject({
      code: 'cli/choice',
      hint: "did you mean 'llama'? choose from gemma2, gemma3_text, llama, mistral, olmo2, phi3, qwen2, qwen3, qwen3_moe, smollm3",
    })
    await expect(trinity('model', 'new', '--out', out, '--layers', 'two')).rejects.toMatchObject({ code: 'cli/number' })
    await expect(trinity('model', 'new', '--out', out, '--dtype', 'int4')).rejects.toMatchObject({ code: 'cli/dtype' })
    await expect(trinity('model', 'new', '--out', root)).rejects.toMatchObject({ code: 'cli/output' })
    await expect(trinity('model', 'info', out)).rejects.toMatchObject({ code: 'model/missing' })
  })
})
