import { createHash } from 'node:crypto'
import { copyFile, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { resolve } from '../../../test/config-kit.js'
import { makeData } from '../../../test/support/made-data.js'
import { tempDir } from '../../../test/support/temp-dir.js'
import { zipped } from '../../base/file/zip.fixture.js'
import { fakeJar, fakeJavaHome } from '../../environment/scienceworld/fake-java.fixture.js'
import type { ExecResult } from '../../machine/python/exec.js'
import { drawTasks } from './scienceworld.js'
import { jarFromPip } from './scienceworld-jar.js'

/** As the simulator of release 1.2.3 says. */
const VARIATIONS = new Map([
  ...['boil', 'melt', 'freeze', 'change-the-state-of-matter-of'].map((task): [string, number] => [task, 30]),
  ['use-thermometer', 540],
  ['measure-melting-point-known-substance', 436],
  ['measure-melting-point-unknown-substance', 300],
  ['power-component', 20],
  ['power-component-renewable-vs-nonrenewable-energy', 20],
  ['test-conductivity', 900],
  ['test-conductivity-of-unknown-substances', 600],
  ...['living-thing', 'non-living-thing', 'plant', 'animal'].map((what): [string, number] => [`find-${what}`, 300]),
  ['grow-plant', 126],
  ['grow-fruit', 126],
  ['chemistry-mix', 32],
  ['chemistry-mix-paint-secondary-color', 36],
  ['chemistry-mix-paint-tertiary-color', 36],
  ['lifespan-longest-lived', 125],
  ['lifespan-shortest-lived', 125],
  ['lifespan-longest-lived-then-shortest-lived', 125],
  ['identify-life-stages-1', 14],
  ['identify-life-stages-2', 10],
  ['inclined-plane-determine-angle', 168],
  ['inclined-plane-friction-named-surfaces', 1386],
  ['inclined-plane-friction-unnamed-surfaces', 162],
  ['mendelian-genetics-known-plant', 120],
  ['mendelian-genetics-unknown-plant', 480],
])

const tasksIn = (rows: readonly Record<string, unknown>[]) =>
  rows.map(({ task_desc }) => JSON.parse(String(task_desc)) as { task_name: string; var_num: number })

describe('the splits of the study', () => {
  it('are 2294 and 1308 tasks, the first in its order', () => {
    const { train, test } = drawTasks(VARIATIONS, { share: 0.5, seed: 42 })
    expect([train.length, test.length]).toEqual([2294, 1308])
    const tasks = tasksIn(train)
    expect(tasks[0]).toEqual({ task_name: 'test-conductivity', var_num: 194 })
    // Python: random.seed(42), all tasks in the order of the study's list, random.shuffle
    const text = tasks.map(({ task_name, var_num }) => `${task_name} ${var_num}`).join('\n')
    expect(createHash('sha256').update(text).digest('hex')).toBe(
      '578b91ae17b666ad30e46be499ed002895eaae22d0355a9e43c8aa10fee8adeb',
    )
    const names = (rows: typeof train) => new Set(tasksIn(rows).map(({ task_name }) => task_name))
    expect([names(train).size, names(test).size]).toEqual([17, 13])
    expect([...names(train)].filter((name) => names(test).has(name))).toEqual([])
  })
})

async function fakeWheel(jar: Uint8Array): Promise<string> {
  const path = join(await tempDir(), 'scienceworld-1.2.3-py3-none-any.whl')
  await writeFile(path, zipped({ 'scienceworld/__init__.py': '', 'scienceworld/scienceworld.jar': jar }))
  return path
}
async function bytesOf(chunks: AsyncIterable<Buffer>): Promise<Buffer> {
  const all: Buffer[] = []
  for await (const chunk of chunks) all.push(chunk)
  return Buffer.concat(all)
}

describe('trinity data scienceworld', () => {
  beforeAll(async () => {
    vi.stubEnv('JAVA_HOME', await fakeJavaHome())
    return () => vi.unstubAllEnvs()
  })

  it('takes the jar or the package that the user has, asks it for its tasks, and keeps what it made', async () => {
    const made = await makeData('scienceworld', { jar: await fakeJar() })
    expect(made.files.map(({ file, rows }) => [file, rows])).toEqual([
      ['scienceworld.jar', undefined],
      ['train.jsonl', 30],
      ['test.jsonl', 15],
    ])
    expect(made.said).toEqual(['the simulator is ScienceWorld 1.2.3'])
    const config = resolve(`model: {model_path: m, max_model_len: 64}\n${made.yaml}`)
    expect(config.buffer.explorer_input.tasksets[0].workflow_args.environment_args).toEqual({
      jar_path: join(made.folder, 'scienceworld.jar'),
    })
    vi.stubEnv('JAVA_HOME', '/nowhere')
    const again = await makeData('scienceworld', { jar: made.files[0].args?.jar }, made.folder)
    expect(again.files.map(({ kept }) => kept)).toEqual([true, true, true])
  })

  it('refuses a file that is neither', async () => {
    const text = join(await tempDir(), 'text.jar')
    await writeFile(text, 'text')
    await expect(makeData('scienceworld', { jar: text })).rejects.toMatchObject({ code: 'file/zip' })
    await expect(makeData('scienceworld', { jar: await fakeJar('1.3.0') })).rejects.toThrow('ScienceWorld 1.3.0')
  })

  it('takes it out of the package that pip downloads', async () => {
    const jar = await readFile(await fakeJar())
    const wheel = await fakeWheel(jar)
    const asked: string[][] = []
    const exec = async (command: string, args: readonly string[]): Promise<ExecResult> => {
      asked.push([command, ...args])
      if (asked.length === 1) return { status: 'missing', stdout: '', stderr: '' }
      await copyFile(wheel, join(args[args.indexOf('--dest') + 1], 'scienceworld-1.2.3-py3-none-any.whl'))
      return { status: 'ok', stdout: '', stderr: '' }
    }
    expect(await bytesOf(jarFromPip(exec))).toEqual(jar)
    expect(asked[1]).toEqual(expect.arrayContaining(['-m', 'pip', 'download', 'scienceworld==1.2.3']))
  })

  it('says what pip says, and how to do it elsewhere', async () => {
    const failing = async () => ({ status: 'failed', stdout: '', stderr: 'WARNING\nERROR: no network\n' }) as const
    await expect(bytesOf(jarFromPip(failing))).rejects.toMatchObject({
      code: 'dataset/download',
      message: expect.stringContaining('ERROR: no network'),
      hint: expect.stringContaining('trinity data scienceworld --jar'),
    })
    const missing = async () => ({ status: 'missing', stdout: '', stderr: '' }) as const
    await expect(bytesOf(jarFromPip(missing))).rejects.toThrow('there is no Python')
  })
})
