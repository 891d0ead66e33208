import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createModel } from '../src/model/index.js'
import { withoutTypes } from '../src/plugin/syntax.js'
import { examples } from './public.js'
import { blocksOf, type DocBlock, pages, root } from './support/doc-blocks.js'

/** What the pages and the comments show is compiled and run as a user would: in a folder that has the built package. */

const run = promisify(execFile)
const folder = mkdtempSync(join(tmpdir(), 'trinity-docs-'))
const programs = pages.flatMap(blocksOf).filter(({ language }) => language === 'ts')
const fileOf = ({ page, line }: DocBlock) => `${page.replace(/\W/g, '_')}_${line}`

beforeAll(async () => {
  if (!existsSync(join(root, 'dist', 'index.d.ts'))) throw new Error('dist/ is not built: npm run build')
  mkdirSync(join(folder, 'node_modules'))
  symlinkSync(root, join(folder, 'node_modules', 'trinity-rft'))
  symlinkSync(join(root, 'node_modules', 'vitest'), join(folder, 'node_modules', 'vitest'))
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  await furnish()
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** What the programs of the pages find: a model, data, a configuration, plugins. */
async function furnish() {
  const shape = { layers: 1, hidden: 16, heads: 2, maxPositions: 512 }
  await createModel({ ...shape, out: join(folder, 'model'), tokenizer: { kind: 'bytes' } })
  mkdirSync(join(folder, 'data/gsm8k'), { recursive: true })
  const rows = Array.from({ length: 12 }, (_, i) => JSON.stringify({ question: `${i} + 1?`, answer: `${i + 1}` }))
  for (const split of ['train', 'test']) writeFileSync(join(folder, `data/gsm8k/${split}.jsonl`), rows.join('\n'))
  writeFileSync(join(folder, 'job.yaml'), JOB)
  mkdirSync(join(folder, 'plugins'))
  for (const { code } of programs) {
    const name = /^\/\/ plugins\/(\S+)\n/.exec(code)?.[1]
    if (name) writeFileSync(join(folder, 'plugins', name), code)
  }
}

describe('the TypeScript of the pages and of the comments', () => {
  it('is a good part of it', () => {
    expect(programs.length).toBeGreaterThan(15)
    expect(programs.filter(({ mark }) => mark === 'fragment').length).toBeLessThan(3)
    expect(examples().length).toBeGreaterThan(25)
  })

  it('compiles against the types of the built package', async () => {
    const sources = join(folder, 'sources')
    mkdirSync(sources)
    for (const block of programs) {
      if (block.mark !== 'fragment') writeFileSync(join(sources, `${fileOf(block)}.ts`), asModule(block.code))
    }
    for (const { file, index, code } of examples())
      writeFileSync(join(sources, `${file.replace(/\W/g, '_')}_${index}.ts`), asModule(code))
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(TSCONFIG))
    const tsc = join(root, 'node_modules/typescript/bin/tsc')
    const { stdout } = await run(process.execPath, [tsc, '-p', folder], { cwd: folder }).catch((error) => error)
    expect(stdout).toBe('')
  }, 60_000)

  it('runs', async () => {
    const waiting = programs.filter(({ mark }) => mark === 'run')
    const failed: string[] = []
    const worker = async () => {
      for (let block = waiting.shift(); block; block = waiting.shift()) {
        const path = join(folder, `${fileOf(block)}.mjs`)
        writeFileSync(path, withoutTypes(block.code))
        const { page, line } = block
        await run(process.execPath, [path], { cwd: folder, timeout: 60_000 }).catch((error) => {
          failed.push(`${page}:${line}: ${error.stderr || error.message}`)
        })
      }
    }
    await Promise.all([worker(), worker()])
    expect(failed).toEqual([])
  }, 120_000)
})

describe('the README', () => {
  it('leads to every page', () => {
    const text = readFileSync(join(root, 'README.md'), 'utf8')
    expect(pages.filter((page) => page.startsWith('docs/') && !text.includes(`](${page})`))).toEqual([])
  })
})

/** Every program has a scope of its own. */
const asModule = (code: string) => (/^(?:import|export) /m.test(code) ? code : `${code}\nexport {}\n`)

const TSCONFIG = {
  compilerOptions: {
    target: 'ES2022',
    lib: ['ES2023'],
    module: 'NodeNext',
    strict: true,
    noImplicitOverride: true,
    noEmit: true,
    skipLibCheck: true,
    types: ['node'],
    typeRoots: [join(root, 'node_modules/@types')],
  },
  include: ['sources'],
}

const JOB = `project: docs
name: job
checkpoint_root_dir: ./runs
algorithm: { algorithm_type: grpo, repeat_times: 2 }
model: { model_path: ./model, max_prompt_tokens: 256, max_response_tokens: 8 }
explorer: { rollout_model: { engine_type: native } }
trainer: { trainer_type: native }
buffer:
  batch_size: 2
  total_steps: 1
  explorer_input:
    taskset: { name: tasks, path: ./data/gsm8k, format: { prompt_key: question, response_key: answer } }
    default_workflow_type: simple_workflow
    default_reward_fn_type: math_reward
`
