import { existsSync } from 'node:fs'
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { tempDir } from '../../../test/support/temp-dir.js'
import type { Exported, ExportList } from '../api.js'
import { Query } from '../part.js'
import { runId } from '../run/find.js'
import { Runs } from '../run/runs.js'
import { Exporter } from './export.js'
import { exportParts } from './export-parts.js'

/** Writes its words to the file that it is told; f32 waits until somebody makes a file beside it, bf16 fails. */
const PROGRAM = `import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
const words = process.argv.slice(2)
const of = (name) => words[words.indexOf(name) + 1]
if (of('--type') === 'bf16') {
  console.error('error no such family\\n  fix choose another')
  process.exit(1)
}
const write = () => {
  mkdirSync(dirname(of('--out')), { recursive: true })
  writeFileSync(of('--out'), words.join(' '))
  console.log('converted')
}
if (of('--type') !== 'f32') write()
else {
  console.log('slowly')
  const timer = setInterval(() => existsSync(of('--checkpoint-dir') + '/go') && (clearInterval(timer), write()), 20)
}
`

let folder: string
let job: string
let id: string
let exporter: Exporter
let parts: ReturnType<typeof exportParts>
beforeAll(async () => {
  folder = await tempDir()
  job = join(folder, 'p', 'n')
  id = runId(job)
  await mkdir(join(job, '.trinity'), { recursive: true })
  await mkdir(join(job, 'global_step_5'))
  const script = join(await tempDir(), 'program.mjs')
  await writeFile(script, PROGRAM)
  exporter = new Exporter([process.execPath, script])
  parts = exportParts(new Runs([folder]), exporter)
})
afterAll(() => exporter.close())

async function act(body: object): Promise<Exported> {
  const part = parts.find((one) => 'act' in one)
  if (!part || !('act' in part)) throw new Error('no part')
  return part.act(body, id, { tell: () => {}, signal: AbortSignal.abort() }) as Promise<Exported>
}
async function list(): Promise<ExportList> {
  const part = parts.find((one) => 'answer' in one)
  if (!part || !('answer' in part)) throw new Error('no part')
  return part.answer(new Query({}), id) as Promise<ExportList>
}
const latest = async () => (await list()).exports[0]
const ended = () => expect.poll(async () => (await latest()).exit, { timeout: 20_000 })

describe('an export', () => {
  it('is written into the folder of its run, and is told with its end', async () => {
    const { file, exit } = await act({ step: 5, type: 'q8_0' })
    expect([file, exit]).toEqual([join(job, 'exports', 'n-step-5-q8_0.gguf'), undefined])
    await ended().toBe('code 0')
    expect(await readFile(file, 'utf8')).toBe(
      `convert --checkpoint-dir ${join(job, 'global_step_5')} --to gguf --type q8_0 --out ${file}`,
    )
    const { folder: where, types } = await list()
    expect(where).toBe(join(job, 'exports'))
    expect(types).toContain('q4_k_m')
    expect(await latest()).toMatchObject({ step: 5, type: 'q8_0', output: ['converted'] })
  })

  it('replaces an earlier one only if the person is sure', async () => {
    await expect(act({ step: 5, type: 'q8_0' })).rejects.toMatchObject({ code: 'studio/exists' })
    const { file } = await act({ step: 5, type: 'q8_0', isSure: true })
    await ended().toBe('code 0')
    expect(await readFile(file, 'utf8')).toContain('--overwrite')
  })

  it('is one at a time, also of two that are asked for at once', async () => {
    const two = await Promise.allSettled([act({ step: 5, type: 'f32' }), act({ step: 5, type: 'f32' })])
    expect(two.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    expect(two.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { code: 'studio/busy' } })
    await expect(act({ step: 5, type: 'f16' })).rejects.toMatchObject({ code: 'studio/busy' })
    await writeFile(join(job, 'global_step_5', 'go'), '')
    await ended().toBe('code 0')
  })

  it('is a directory where no GGUF file is asked for', async () => {
    const { file } = await act({ step: 5, type: 'hf' })
    await ended().toBe('code 0')
    expect(basename(file)).toBe('n-step-5-hf')
    expect(await readFile(file, 'utf8')).toContain(`--to hf --out ${file}`)
  })

  it('that fails says why', async () => {
    await act({ step: 5, type: 'bf16' })
    await ended().toBe('code 1')
    expect((await latest()).output).toEqual(['error no such family', '  fix choose another'])
    const broken = new Exporter([join(folder, 'no program')])
    const run = { id, path: job, root: folder }
    await broken.start(run, { step: 5, type: 'f16', isSure: true })
    await expect.poll(() => broken.of(id)[0].exit).toBeDefined()
    expect(broken.of(id)[0].output[0]).toContain('ENOENT')
  })

  it('is of a checkpoint that is there, of a type that is known, and below the folders', async () => {
    await expect(act({ step: 6, type: 'f16' })).rejects.toMatchObject({ code: 'studio/no-checkpoint' })
    await expect(async () => act({ step: 5, type: 'q3' })).rejects.toMatchObject({ code: 'studio/query' })
    const away = await tempDir()
    await symlink(away, join(job, 'global_step_7'))
    await expect(act({ step: 7, type: 'f16' })).rejects.toMatchObject({ code: 'studio/outside' })
    const other = join(folder, 'p', 'linked')
    await mkdir(join(other, 'global_step_5'), { recursive: true })
    await symlink(away, join(other, 'exports'))
    const run = { id: 'x', path: other, root: folder }
    await expect(exporter.start(run, { step: 5, type: 'f16' })).rejects.toMatchObject({ code: 'studio/outside' })
  })

  it('ends with Studio', async () => {
    await mkdir(join(job, 'global_step_8'))
    const { file } = await act({ step: 8, type: 'f32' })
    await expect.poll(async () => (await latest()).output, { timeout: 20_000 }).toEqual(['slowly'])
    await exporter.close()
    expect([(await latest()).exit, existsSync(file), basename(file)]).toEqual([
      ...['SIGKILL', false, 'n-step-8-f32.gguf'],
    ])
  })
})
