import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeBench } from '../../scripts/kill-test.mjs'
import { deepFolder } from '../deep-folder.js'
import { cli, trinity } from './cli-kit.js'

let dir: string
let remove: () => void

beforeAll(async () => {
  ;({ dir, remove } = deepFolder())
  await makeBench(dir, { cli, steps: 2 })
  for (const name of ['job', 'other']) {
    const ended = await run(set(`name=${name}`))
    expect(ended, ended.stderr).toMatchObject({ code: 0 })
  }
}, 120_000)
afterAll(() => remove())

const set = (...pairs: string[]) => pairs.flatMap((pair) => ['--set', pair])
const ROOT = set('checkpoint_root_dir=out')
const FRESH = ['--fresh', '--yes']
const OTHERS = [
  ['run', '--dry-run'],
  ['debug', '--module', 'workflow'],
]
const run = (more: readonly string[], file = 'offset0.yaml') =>
  trinity(dir, ['run', '-c', file, '--plugin-dir', 'plugins', ...ROOT, ...more])
const job = (...more: string[]) => join(dir, 'out', 'kill', 'job', ...more)
const put = (path: string, text = 'mine\n') => {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
  return path
}
/** Every file below the folder, and everything beside the folders above it. */
const world = () => {
  const above = Array.from({ length: 8 }, (_, i) => join(dir, ...Array(i + 1).fill('..')))
  return [...(readdirSync(dir, { recursive: true }) as string[]).sort(), ...above.flatMap((one) => readdirSync(one))]
}

describe('trinity run --fresh', { timeout: 120_000 }, () => {
  it.each([
    ['an empty name', ['name=""']],
    ['names that lead up', ['project=..', 'name=..']],
    ['names that lead away', ['name=../../x']],
    ['an empty project and the current folder', ['project=""', 'name=.', 'checkpoint_root_dir=.']],
    ['a group that leads up', ['group=..']],
    ['a name that is too long', [`name=${'n'.repeat(256)}`]],
  ])('%s: no command takes it, and nothing changes', async (_, keys) => {
    const before = world()
    const given = ['-c', 'offset0.yaml', ...set(...keys)]
    for (const args of [
      ['run', ...given, '--plugin-dir', 'plugins', ...FRESH],
      ['run', ...given, '--plugin-dir', 'plugins'],
      // each command takes a while to start, and all ask the same
      ...(keys[0] === 'name=""' ? OTHERS.map((args) => [...args, ...given]) : []),
    ]) {
      const ended = await trinity(dir, args)
      expect(ended.code, ended.stderr).toBe(2)
      expect(ended.stderr).toMatch(/the name (is|has)/)
    }
    expect(world()).toEqual(before)
  })

  it('names the variables that are not set, and deletes nothing of the current folder', async () => {
    const text = readFileSync(join(dir, 'offset0.yaml'), 'utf8')
      .replace('project: kill', 'project: ${oc.env:TEST_FRESH_PROJECT,}')
      .replace('name: job', 'name: ${oc.env:TEST_FRESH_NAME,}')
    put(join(dir, 'unset.yaml'), text)
    const before = world()
    for (const args of [
      ['run', '-c', 'unset.yaml', '--plugin-dir', 'plugins', ...FRESH],
      ['config', 'check', 'unset.yaml'],
      ['log', '--config', 'unset.yaml', '--no-follow'],
    ]) {
      const ended = await trinity(dir, args)
      expect(ended.code, ended.stderr).toBe(2)
      expect(ended.stdout + ended.stderr).toMatch(/TEST_FRESH_PROJECT[\s\S]*TEST_FRESH_NAME/)
    }
    expect(world()).toEqual(before)
  })

  it.each(['data_processor.experience_pipeline.input_save_path', 'buffer.trainer_input.experience_buffer.path'])(
    'leaves a folder that %s names by mistake',
    async (key) => {
      const precious = put(join(dir, 'precious', 'thesis.tex'))
      const ended = await run([...FRESH, ...set(`${key}=${dirname(precious)}`)])
      expect(ended.code, ended.stdout).toBe(2)
      expect(ended.stderr).toContain(`${dirname(precious)}: it is a folder`)
      expect(readFileSync(precious, 'utf8')).toBe('mine\n')
      expect(existsSync(job('global_step_2'))).toBe(true)
    },
  )

  it('follows no link in the place of the job', async () => {
    renameSync(job(), join(dir, 'moved'))
    symlinkSync(join(dir, 'moved'), job())
    const ended = await run(FRESH)
    expect(ended).toMatchObject({ code: 2, stderr: expect.stringContaining('a link') })
    expect(existsSync(join(dir, 'moved', 'global_step_2', 'run_state.json'))).toBe(true)
    renameSync(job(), join(dir, 'link'))
    renameSync(join(dir, 'moved'), job())
  })

  it('says what goes and how much, leaves a file of the user, and starts over', async () => {
    const mine = put(job('notes.txt'))
    const asked = await run(['--fresh'])
    expect(asked.code).toBe(2)
    expect(asked.stderr).toMatch(/job: \d+ files, [\d.]+ [KM]iB/)
    expect(asked.stderr).toContain(mine)
    const state = job('global_step_2', 'run_state.json')
    expect(existsSync(state)).toBe(true)
    const ended = await run([...FRESH, ...set('buffer.total_steps=1')])
    expect(ended, ended.stderr).toMatchObject({ code: 0 })
    expect(ended.stdout).toMatch(/deleted\n.*job: \d+ files/)
    expect(ended.stdout).toContain(`kept, because it is not from this job:\n  ${mine}`)
    expect([existsSync(state), existsSync(job('global_step_1')), existsSync(mine)]).toEqual([false, true, true])
    expect(existsSync(join(dir, 'out', 'kill', 'other', 'global_step_2', 'run_state.json'))).toBe(true)
    // all that a real run leaves is known: only the file of the user is named
    expect(
      ended.stdout
        .split('kept, because it is not from this job:\n')[1]
        .split('\n')
        .filter((line) => line.startsWith(`  ${dir}`)),
    ).toEqual([`  ${mine}`])
  })
})
