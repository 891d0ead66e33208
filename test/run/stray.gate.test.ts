import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeBench } from '../../scripts/kill-test.mjs'
import { cli, trinity } from './cli-kit.js'

let dir: string

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'trinity-stray-'))
  await makeBench(dir, { cli, steps: 200 })
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

let count = 0

/** A run with the plugin of the bench and one more; the first rollout of the `at`-th task sets it off. */
async function runWith(setOff: string, more: readonly string[] = []) {
  const out = `out${++count}`
  const plugins = join(dir, `plugins${count}`)
  mkdirSync(plugins)
  writeFileSync(
    join(plugins, 'count.mjs'),
    readFileSync(join(dir, 'plugins', 'count.mjs'), 'utf8').replace(
      'const experiences',
      `if (++globalThis.calls === 40) setOff()
  const experiences`,
    ) + `\nglobalThis.calls = 0\nfunction setOff() { ${setOff} }\n`,
  )
  const set = ['--set', `checkpoint_root_dir=${out}`, '--set', 'trainer.save_interval=1000']
  const ended = await trinity(dir, ['run', '-c', 'offset0.yaml', '--plugin-dir', plugins, ...set, ...more])
  return { ...ended, plugin: join(plugins, 'count.mjs'), job: join(dir, out, 'kill', 'job') }
}

describe('what a plugin does outside of its calls', { timeout: 120_000 }, () => {
  it.each([
    [
      'a forgotten promise',
      `Promise.reject(new Error('lost one'))`,
      /a promise that is not awaited failed.*: lost one/,
    ],
    ['a late throw', `setTimeout(() => { throw new Error('too late') }, 1)`, /an error was not caught.*: too late/],
    [
      "an 'error' event",
      `import('node:events').then(({ EventEmitter }) => setTimeout(() => new EventEmitter().emit('error', new Error('gone')), 1))`,
      /an error was not caught.*: gone/,
    ],
    [
      'process.exit',
      `setTimeout(() => process.exit(0), 1)`,
      /about to exit before the command was done.*process\.exit\(0\)/,
    ],
  ])('%s fails the run, names the plugin, saves and logs', async (_, setOff, words) => {
    const { code, stderr, stdout, plugin, job } = await runWith(setOff)
    expect(code, stdout + stderr).toBe(1)
    expect(stderr).toMatch(words)
    expect(stderr).toContain(plugin)
    expect(stderr).not.toMatch(/^ {4}at /m)
    expect(stdout).not.toMatch(/^ *done/m)
    const step = Number(readFileSync(join(job, 'latest_checkpointed_iteration.txt'), 'utf8'))
    expect(step).toBeGreaterThan(0)
    expect(readFileSync(join(job, 'log', 'run.log'), 'utf8')).toMatch(words)
  })

  it('process.exit while a plugin is loaded is no success', async () => {
    const plugins = join(dir, 'exits')
    mkdirSync(plugins)
    writeFileSync(join(plugins, 'exits.mjs'), 'process.exit(0)\n')
    const { code, stderr } = await trinity(dir, ['run', '-c', 'offset0.yaml', '--plugin-dir', plugins])
    expect(code).toBe(1)
    expect(stderr).toContain('exits.mjs')
  })

  it.each([
    ['train', (file: string) => ['train', file, '--data', 'tasks.jsonl', '--model', 'model']],
    ['config check', (file: string) => ['config', 'check', 'offset0.yaml', '--plugin-dir', file]],
    ['play', (file: string) => ['play', '--plugin-dir', file]],
  ])(
    'in %s neither process.exit nor an await that never ends passes for success while a plugin is loaded',
    async (_, args) => {
      const at = join(dir, `load${++count}`)
      mkdirSync(at)
      writeFileSync(join(at, 'leaves.mjs'), 'process.exit()\n')
      writeFileSync(join(at, 'waits.mjs'), 'await new Promise(() => {})\n')
      const leaves = await trinity(dir, args(join(at, 'leaves.mjs')))
      expect(leaves, leaves.stderr).toMatchObject({ code: 1, stdout: '' })
      expect(leaves.stderr).toMatch(/about to exit before the command was done in the plugin .*leaves\.mjs:1:\d+/)
      const waits = await trinity(dir, args(join(at, 'waits.mjs')))
      expect(waits, waits.stderr).toMatchObject({ code: 2, stdout: '' })
      expect(waits.stderr).toMatch(/plugin 'waits\.mjs' failed: its top-level await never ended/)
    },
  )

  it.each([
    ['a timer that stays', 'setInterval(() => {}, 1000)', 0],
    ['a forgotten promise', `Promise.reject(new Error('lost one'))`, 1],
    ['a late throw', `setTimeout(() => { throw new Error('lost one') })`, 1],
  ])('who wraps process.exit does not change how a command ends: with %s', async (_, does, wanted) => {
    const plugin = join(dir, `wraps${++count}.mjs`)
    writeFileSync(plugin, `const { exit } = process\nprocess.exit = (code) => exit(code)\n${does}\n`)
    const { code, stderr } = await trinity(dir, [
      'config',
      'check',
      'offset0.yaml',
      '--plugin-dir',
      'plugins',
      '--plugin-dir',
      plugin,
    ])
    expect(code, stderr).toBe(wanted)
    expect(stderr).not.toMatch(/^ {4}at /m)
    if (wanted === 1) expect(stderr).toContain('lost one')
  })

  it.each([
    ['a throw', `throw new Error('too late')`],
    ['a promise', `Promise.reject(new Error('too late'))`],
    ['process.exit', 'process.exit(7)'],
  ])('%s after the end is no failure of a run that is done', async (name, does) => {
    const plugin = join(dir, `late${++count}.mjs`)
    writeFileSync(plugin, `process.once('late', () => setTimeout(() => { ${does} }, 1000))\n`)
    // set off by the last thing that a run prints
    const last = join(dir, `print${count}.mjs`)
    writeFileSync(
      last,
      `const { write } = process.stdout
process.stdout.write = function (...args) {
  if (/done +/.test(String(args[0]))) process.emit('late')
  return write.apply(this, args)
}\n`,
    )
    const set = ['--set', `checkpoint_root_dir=late${count}-out`, '--set', 'buffer.total_steps=1']
    const plugins = ['plugins', plugin, last].flatMap((one) => ['--plugin-dir', one])
    const ended = await trinity(dir, ['run', '-c', 'offset0.yaml', ...plugins, ...set])
    expect(ended, ended.stderr).toMatchObject({ code: 0, signal: null })
    expect(ended.stdout).toMatch(/done +1 step/)
    expect(ended.stderr).not.toMatch(/^ {4}at /m)
    if (name !== 'process.exit') expect(ended.stderr).toMatch(/^note: after the end: .*late\d+\.mjs:1:\d+: too late/m)
  })

  it('fails a run with an error whose await can never settle', async () => {
    const plugin = join(dir, 'stuck.mjs')
    writeFileSync(
      plugin,
      `import { operator, operators } from 'trinity-rft/data'
import { z } from 'trinity-rft'
operators.add('stuck', operator({
  doc: 'never settles',
  args: z.strictObject({}),
  create: () => ({ process: () => new Promise(() => {}) }),
}))\n`,
    )
    const keys = [
      'mode=explore',
      'buffer.trainer_input.experience_buffer.storage_type=sql',
      'data_processor.experience_pipeline.operators=[{name: stuck}]',
      'checkpoint_root_dir=stuck-out',
    ]
    const set = keys.flatMap((key) => ['--set', key])
    const args = ['run', '-c', 'offset0.yaml', '--plugin-dir', 'plugins', '--plugin-dir', plugin, ...set]
    const { code, stdout, stderr } = await trinity(dir, args)
    expect(code, stdout + stderr).toBe(1)
    expect(stderr).toMatch(/^error the event loop became empty before the command was done/m)
    expect(stderr).toMatch(/fix run the command again/)
    expect(stdout).not.toMatch(/^ *done/m)
  })
})
