import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { parse } from 'yaml'
import { BASE } from '../../test/config-kit.js'
import { configCheck, configDocs, configSchema } from './config.js'
import { run } from './run.js'

const dir = mkdtempSync(join(tmpdir(), 'trinity-cli-config-'))
const file = (name: string, text: string) => {
  writeFileSync(join(dir, name), text)
  return join(dir, name)
}
const ROW = '{"prompt": "1+1", "response": "2"}'
const good = file('good.yaml', `${BASE}explorer: {api_port: 1, runner_num: 2}`)
const bad = file('bad.yaml', `${BASE}mdoe: both\nbufer: {}\n`)

async function output(action: () => Promise<number>): Promise<{ code: number; text: string }> {
  let text = ''
  const spy = vi.spyOn(process.stdout, 'write').mockImplementation((chunk) => {
    text += String(chunk)
    return true
  })
  const code = await action().finally(() => spy.mockRestore())
  return { code, text: stripVTControlCharacters(text) }
}
afterEach(() => vi.restoreAllMocks())

describe('trinity config check', () => {
  it('0 when all are well, with notes', async () => {
    const { code, text } = await output(() => configCheck([good], {}))
    expect(code).toBe(0)
    expect(text).toContain(`ok   ${good}`)
    expect(text).toContain('older names: explorer.api_port is now explorer.proxy_port')
    expect(text).toContain('without effect here: explorer.runner_num (use runner_per_model)')
  })

  it('2 when one is not, with every problem of every file', async () => {
    const { code, text } = await output(() => configCheck([good, bad, join(dir, 'no.yaml')], {}))
    expect(code).toBe(2)
    expect(text).toContain(`bad  ${bad}`)
    expect(text).toContain(`${bad}:4:1  mdoe: unknown key`)
    expect(text).toContain('fix did you mean buffer?')
    expect(text).toContain(`no file ${join(dir, 'no.yaml')}`)
  })

  it('as JSON', async () => {
    const { code, text } = await output(() => configCheck([bad], { json: true }))
    expect(code).toBe(2)
    expect(JSON.parse(text)).toMatchObject([
      { file: bad, ok: false, problems: [{ severity: 'error', key: 'mdoe', mark: { line: 4 } }, {}] },
    ])
  })

  it('takes --set', async () => {
    expect((await output(() => configCheck([good], { set: ['buffer.batch_size=0'] }))).code).toBe(2)
    await expect(configCheck([good], { set: ['foo'] })).rejects.toMatchObject({ code: 'cli/usage', path: '--set' })
  })
})

describe('trinity config schema and docs', () => {
  it('print or write', async () => {
    expect(JSON.parse((await output(() => configSchema({}))).text)).toHaveProperty('$defs')
    expect(await configDocs({ output: join(dir, 'docs.md') })).toBe(0)
    expect(readFileSync(join(dir, 'docs.md'), 'utf8')).toMatch(/^# Configuration/)
  })
})

describe('trinity run --dry-run', () => {
  it('tells what would run', async () => {
    const { code, text } = await output(() =>
      run({
        config: good,
        dryRun: true,
        set: ['algorithm.algorithm_type=grpo', 'buffer.batch_size=4', 'algorithm.repeat_times=8'],
      }),
    )
    expect(code).toBe(0)
    expect(text).toMatch(/mode +both: explorer and trainer together/)
    expect(text).toMatch(/step +4 tasks × 8 rollouts explored, 32 experiences trained; 1 epoch/)
    expect(text).toMatch(/algorithm +grpo: advantage grpo, loss ppo/)
    expect(text).toContain('Nothing was run.')
    expect(parse(text)).toMatchObject({ buffer: { batch_size: 4, train_batch_size: 32 } })
  })

  it('counts steps of an epoch where the tasks lie in a file', async () => {
    const tasks = file('tasks.jsonl', `${ROW}\n\n${ROW}\n${ROW}`)
    const { text } = await output(() =>
      run({ config: good, dryRun: true, set: [`buffer.explorer_input.taskset.path=${tasks}`, 'buffer.batch_size=2'] }),
    )
    expect(text).toContain('3 rows')
    expect(text).toContain('1 steps an epoch')
    expect(text).not.toContain('do not fill')
  })

  it('warns of tasks that do not fill a batch', async () => {
    const tasks = file('few.jsonl', `${ROW}\n${ROW}`)
    const plan = async (...set: string[]) =>
      (
        await output(() =>
          run({ config: good, dryRun: true, set: [`buffer.explorer_input.taskset.path=${tasks}`, ...set] }),
        )
      ).text
    expect(await plan('buffer.batch_size=4')).toMatch(/warning .*buffer.batch_size: 2 tasks do not fill one batch of 4/)
    expect(await plan('buffer.batch_size=4', 'buffer.total_epochs=2')).not.toContain('do not fill')
    expect(await plan('buffer.batch_size=4', 'buffer.total_steps=3')).not.toContain('do not fill')
  })

  it('does not talk of resuming with --fresh', async () => {
    const plan = async (fresh: boolean) => (await output(() => run({ config: good, dryRun: true, fresh }))).text
    expect(await plan(false)).toMatch(/resume +nothing there yet/)
    expect(await plan(true)).toMatch(/resume +no: --fresh deletes what earlier runs left/)
  })

  it('shows no GPUs where none is used, whatever the file asks for', async () => {
    const plan = async (...set: string[]) => (await output(() => run({ config: good, dryRun: true, set }))).text
    const gpus = ['cluster.node_num=1', 'cluster.gpu_per_node=8']
    const native = ['explorer.rollout_model.engine_type=native', 'trainer.trainer_type=native']
    expect(await plan(...gpus, ...native)).not.toMatch(/# +GPUs/)
    expect(await plan(...gpus, ...native.map((one) => one.replace('native', 'torch')))).toMatch(/# +GPUs +1 × 8 = 8/)
  })

  it('prints every key as YAML and JSON', async () => {
    const yaml = (await output(() => run({ config: good, dryRun: true, yaml: true }))).text
    expect(yaml).toContain('train_batch_size: 1\n')
    const json = JSON.parse((await output(() => run({ config: good, dryRun: true, json: true }))).text)
    expect(json.stages[0].config.explorer.proxy_port).toBe(1)
    expect(json.remarks).not.toEqual([])
  })

  it('fails with all problems', async () => {
    await expect(run({ config: bad, dryRun: true })).rejects.toMatchObject({
      code: 'config/invalid',
      message: expect.stringContaining('2 problems'),
    })
  })

  it('shipped examples', async () => {
    const root = join(import.meta.dirname, '../..')
    for (const name of ['quickstart/quickstart.yaml', 'grpo_gsm8k/gsm8k.yaml', 'grpo_gsm8k/sft_then_grpo.yaml']) {
      expect((await output(() => run({ config: join(root, 'examples', name), dryRun: true }))).code).toBe(0)
    }
  })
})
