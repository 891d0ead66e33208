import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { differences, makeBench, resultOf } from '../../scripts/kill-test.mjs'
import { cli, trinity } from './cli-kit.js'

type Seen = Parameters<typeof trinity>[2]

let dir: string

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'trinity-cli-'))
  await makeBench(dir, { cli, steps: 6 })
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

/** Runs the case `offset0` in a folder of its own. */
const run = (out: string, more: readonly string[] = [], seen?: Seen, env?: NodeJS.ProcessEnv) =>
  trinity(
    dir,
    ['run', '-c', 'offset0.yaml', '--plugin-dir', 'plugins', '--set', `checkpoint_root_dir=${out}`, ...more],
    seen,
    env,
  )
const job = (out: string, ...more: string[]) => join(dir, out, 'kill', 'job', ...more)
const set = (...pairs: string[]) => pairs.flatMap((pair) => ['--set', pair])

describe('trinity run', { timeout: 120_000 }, () => {
  it('trains a real model, leaves the files of a run, and does nothing the second time', async () => {
    const first = await run('whole')
    expect(first).toMatchObject({ code: 0, stderr: '' })
    expect(first.stdout).toMatch(/done +6 steps/)
    expect(readdirSync(job('whole')).sort()).toEqual([
      '.trinity',
      'best_eval.json',
      'buffer',
      'explorer_meta.json',
      'global_step_2',
      'global_step_4',
      'global_step_6',
      'job.json',
      'latest_checkpointed_iteration.txt',
      'latest_state_dict_iteration.txt',
      'log',
      'monitor',
      'run_meta.json',
      'trainer_meta.json',
    ])
    expect(readFileSync(job('whole', 'latest_checkpointed_iteration.txt'), 'utf8')).toBe('6\n')
    expect(readdirSync(job('whole', 'log'))).toEqual(expect.arrayContaining(['explorer.log', 'trainer.log']))
    const second = await run('whole')
    expect(second, second.stderr).toMatchObject({ code: 0 })
    expect(second.stdout).toContain('already finished')
  })

  it('exits with 3 and the reason after fewer steps than asked, also when it is started again', async () => {
    const filter = [
      '--set',
      'data_processor.experience_pipeline.operators=[{name: reward_filter, args: {threshold: 0.001}}]',
    ]
    const first = await run('partial', filter)
    expect(first).toMatchObject({ code: 3, stderr: '' })
    const reason = /partial +ended after \d of 6 steps: \d+ of 72 experiences were dropped \(\d+ × reward_filter: .+\)/
    expect(first.stdout).toMatch(reason)
    expect(first.stdout).toMatch(/updates +\d applied, 0 refused; weights changed/)
    expect(first.stdout).toMatch(/data +experiences: 72 made, \d+ dropped/)
    const second = await run('partial', filter)
    expect(second.code).toBe(3)
    expect(second.stdout).toMatch(reason)
  })

  it('starts over only when told twice', async () => {
    const refused = await run('whole', ['--fresh'])
    expect(refused, refused.stderr).toMatchObject({ code: 2 })
    expect(refused.stderr).toContain(job('whole'))
    expect(existsSync(job('whole', 'global_step_6'))).toBe(true)
    const again = await run('whole', ['--fresh', '--yes', ...set('buffer.total_steps=2')])
    expect(again, again.stderr).toMatchObject({ code: 0 })
    expect(existsSync(job('whole', 'global_step_6'))).toBe(false)
  })

  it('after one Ctrl-C finishes the step and saves; the same command ends as if nothing had been', async () => {
    await run('reference')
    const hold = join(dir, 'hold')
    writeFileSync(hold, '')
    let asked = false
    const seen: Seen = (text, child) => {
      if (!asked && /trainer +step 3/.test(text)) asked = child.kill('SIGINT')
      if (text.includes('finishing the step')) rmSync(hold, { force: true })
    }
    const stopped = await run('interrupted', [], seen, { KILL_TEST_HOLD: hold })
    expect(stopped, stopped.stderr).toMatchObject({ code: 0 })
    expect(stopped.stdout).toMatch(/next +npx trinity run -c offset0\.yaml --plugin-dir plugins .* resumes from here/)
    expect(stopped.stdout.match(/npx trinity run/g)).toHaveLength(1)
    expect((await run('interrupted')).code).toBe(0)
    const [expected, found] = [resultOf(join(dir, 'reference')), resultOf(join(dir, 'interrupted'))]
    // The checkpoint of the step at which it was stopped is one more.
    const more = /^global_step_[135]\/.* is only in the killed run$/
    expect(differences(expected, found).filter((line: string) => !more.test(line))).toEqual([])
  })

  it('after two stops now with 130, and goes on', async () => {
    let sent = 0
    const killed = await run('forced', set('buffer.total_steps=60'), (text, child) => {
      if (sent === 0 && /trainer +step 3/.test(text)) {
        child.kill('SIGINT')
        sent = 1
        setTimeout(() => child.kill('SIGINT'), 5)
      }
    })
    // The second signal may come when the first has already done its work.
    expect([0, 130]).toContain(killed.code)
    expect((await run('forced', set('buffer.total_steps=6'))).code).toBe(0)
  })

  it('runs explorer and trainer as two processes on one folder', async () => {
    const apart = [
      'checkpoint_root_dir=apart',
      'buffer.trainer_input.experience_buffer={storage_type: sql}',
      'synchronizer.sync_timeout=60',
    ]
    const side = (mode: string, ...more: string[]) =>
      trinity(dir, ['run', '-c', 'offset0.yaml', '--plugin-dir', 'plugins', ...set(...apart, `mode=${mode}`, ...more)])
    const [explorer, trainer] = await Promise.all([side('explore'), side('train', 'buffer.train_batch_size=12')])
    expect(explorer, explorer.stderr).toMatchObject({ code: 0 })
    expect(trainer, trainer.stderr).toMatchObject({ code: 0 })
    const lines = readFileSync(job('apart', 'monitor', 'trainer.jsonl'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(lines.map(({ metrics }) => metrics['sample/model_version/mean'])).toEqual([0, 1, 2, 3, 4, 5])
  })

  it('runs stages, each from the model of the one before, and not again what is done', async () => {
    const rows = Array.from({ length: 8 }, (_, i) => `${JSON.stringify({ q: `${i}+${i}=`, a: `${2 * i}` })}\n`)
    writeFileSync(join(dir, 'sft.jsonl'), rows.join(''))
    writeFileSync(join(dir, 'stages.yaml'), STAGES)
    const go = (...more: string[]) => trinity(dir, ['run', '-c', 'stages.yaml', '--plugin-dir', 'plugins', ...more])
    const failed = await go(...set('stages[1].buffer.explorer_input.taskset.path=nothing.jsonl', 'name=broken'))
    expect(failed.code).toBe(2)
    expect(existsSync(join(dir, 'out', 'kill', 'broken', 'warm', 'global_step_4'))).toBe(true)
    const first = await go()
    expect(first, first.stderr).toMatchObject({ code: 0 })
    const stages = join(dir, 'out', 'kill', 'staged')
    expect(JSON.parse(readFileSync(join(stages, 'stage_meta.json'), 'utf8')).finished).toEqual(['warm', 'rl'])
    const weights = (stage: string, step: number) =>
      readFileSync(join(stages, stage, `global_step_${step}`, 'actor', 'huggingface', 'model.safetensors'))
    const [warm, rl, rlAgain] = [weights('warm', 4), weights('rl', 2), join(stages, 'rl')]
    expect(rl.length).toBe(warm.length)
    rmSync(rlAgain, { recursive: true })
    const second = await go()
    expect(second.stdout).not.toContain('loss 3')
    expect(weights('rl', 2).equals(rl)).toBe(true)
    expect((await go()).stdout).toContain('already finished')
  })

  it.each([
    ['an optimizer that is not here', ['algorithm.optimizer.optimizer_type=sgd'], 2, /no optimizer 'sgd'/],
    ['a wrong model path', ['model.model_path=./nowhere'], 2, /nowhere/],
    ['a model that is a file', ['model.model_path=./tasks.jsonl'], 2, /tasks\.jsonl is a file\n.*model directory/],
    ['tasks from a device', ['buffer.explorer_input.taskset.path=/dev/null'], 2, /'\/dev\/null' is not a regular file/],
    ['a missing task file', ['buffer.explorer_input.taskset.path=nothing.jsonl'], 2, /nothing\.jsonl/],
    ['an unknown workflow', ['buffer.explorer_input.taskset.default_workflow_type=count_workfow'], 2, /count_workflow/],
    ['an engine that nobody knows', ['explorer.rollout_model.engine_type=nativ'], 2, /did you mean .native/],
    ['a batch larger than the data', ['buffer.total_steps=null', 'buffer.batch_size=99'], 2, /nothing to run/],
  ])('says what is wrong with %s', async (_, keys, code, text) => {
    const ended = await run('wrong', set(...keys))
    expect(ended.stderr).toMatch(text)
    expect(ended, ended.stderr).toMatchObject({ code, signal: null })
  })
})

const STAGES = `
project: kill
name: staged
checkpoint_root_dir: out
model: {model_path: model, max_prompt_tokens: 24, max_response_tokens: 8}
monitor: {monitor_type: jsonl}
stages:
  - stage_name: warm
    mode: train
    algorithm: {algorithm_type: sft, optimizer: {lr: 1.0e-2}}
    buffer:
      train_batch_size: 4
      total_epochs: 2
      trainer_input: {experience_buffer: {path: sft.jsonl, format: {prompt_type: plaintext, prompt_key: q, response_key: a}}}
  - stage_name: rl
    mode: both
    algorithm: {algorithm_type: grpo, repeat_times: 4, optimizer: {lr: 1.0e-2}}
    buffer:
      batch_size: 3
      total_steps: 2
      explorer_input:
        taskset: {path: tasks.jsonl, default_workflow_type: count_workflow, format: {prompt_key: q, response_key: a}}
`
