import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { resolve } from '../../test/config-kit.js'
import { silent, speaker, text } from '../../test/support/workflow-kit.js'
import { type ExperienceBuffer, openBuffer } from '../buffer/index.js'
import type { Config } from '../config/index.js'
import type { SampleModel } from '../engine/contract.js'
import { type Experience, uid } from '../experience/index.js'
import { ExperiencePipeline } from '../pipeline/index.js'
import { Taskset, TasksetScheduler } from '../task/index.js'
import type { WorkflowContext } from '../workflow/context.js'
import { workflows } from '../workflow/index.js'
import { Explorer } from './explorer.js'
import type { ExplorerMark } from './mark.js'
import type { EvaluationPlan, ExplorerSync } from './parts.js'

let dir: string
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'trinity-explorer-'))
  const rows = Array.from({ length: 12 }, (_, i) =>
    JSON.stringify({ prompt: `task ${i}`, weak: (i % 4) / 4, strong: (i % 5) / 5 }),
  )
  await writeFile(join(dir, 'tasks.jsonl'), rows.join('\n'))
  await writeFile(join(dir, 'eval.jsonl'), rows.slice(0, 3).join('\n'))
  workflows.add('explorer_test', async ({ model, run, random }: WorkflowContext) => {
    const [experience] = await model.generate('a', { max_tokens: 4, ignore_eos: true })
    await new Promise((done) => setTimeout(done, random.below(5)))
    experience.reward = ((experience.tokens.at(-1)! + run) % 3) / 2
    return experience
  })
  workflows.add('explorer_test_broken', async () => {
    throw new Error('no environment here')
  })
})
afterAll(() => rm(dir, { recursive: true, force: true }))

interface Rig {
  explorer: Explorer
  buffer: ExperienceBuffer
  logged: { step: number; metrics: Record<string, number> }[]
  events: string[]
  evaluations: EvaluationPlan[]
  sampler: SampleModel
}

/** An explorer on the mock engine. What happens is written down in `events`. */
const opened: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close()
})

async function rig(
  keys: Record<string, unknown> = {},
  more: { yaml?: string; version?: () => number; afterStep?: ExplorerSync['afterStep'] } = {},
): Promise<Rig> {
  const set = { 'explorer.rollout_model.engine_type': 'mock', 'explorer.eval_interval': 2, ...keys }
  const config: Config = resolve(
    `
model: {model_path: m, max_model_len: 64}
algorithm: {algorithm_type: grpo, repeat_times: 2}
buffer:
  batch_size: 2
  explorer_input:
    taskset:
      name: train
      path: ${dir}/tasks.jsonl
      default_workflow_type: explorer_test
      data_selector: {selector_type: difficulty_based, feature_keys: [weak, strong], kwargs: {tau: 0.3}}
    eval_tasksets: [{name: held, path: ${dir}/eval.jsonl, default_workflow_type: explorer_test, repeat_times: 2}]
${more.yaml ?? ''}
`,
    { set: Object.entries(set).map(([key, value]) => `${key}=${JSON.stringify(value)}`) },
  )
  const input = config.buffer.explorer_input
  const sampler = await speaker(undefined)
  const buffer = await openBuffer({ name: 'b', storage_type: 'queue', capacity: 10_000, max_read_timeout: 5 })
  const events: string[] = []
  const logged: Rig['logged'] = []
  const evaluations: EvaluationPlan[] = []
  const pipeline = await ExperiencePipeline.open({
    operators: [{ name: 'pass_rate_calculator' }],
    output: {
      ...buffer,
      put: async (experiences: readonly Experience[], options: object) => {
        events.push(`put ${experiences[0]?.eid.batch}`)
        await buffer.put(experiences, options)
      },
    } as ExperienceBuffer,
  })
  const sync: ExplorerSync = {
    get version() {
      return more.version?.() ?? 0
    },
    afterStep:
      more.afterStep ?? (async (step) => void events.push(`sync ${step} (${sampler.stats().running} running)`)),
  }
  const scheduler = await TasksetScheduler.open({ ...config.buffer, tasksets: input.tasksets as never })
  const evalTasksets = await Promise.all(input.eval_tasksets.map((set, i) => Taskset.open(set as never, i)))
  opened.push(scheduler, ...evalTasksets)
  const explorer = new Explorer({
    config,
    model: [sampler],
    text,
    scheduler,
    evalTasksets,
    pipeline,
    buffer: {
      finish: async (who) => {
        events.push('finish')
        await buffer.finish(who)
      },
    },
    sync,
    monitor: {
      log: (metrics, step) => {
        logged.push({ step, metrics: { ...metrics } })
        events.push(`${'time/eval' in metrics ? 'eval' : 'log'} ${step}`)
      },
      table() {},
      rewind() {},
      close: async () => {},
    },
    logs: { logger: () => silent, close: async () => {} },
    bestEval: (evaluation) => void evaluations.push(evaluation),
  })
  return { explorer, buffer, logged, events, evaluations, sampler }
}

const never = new AbortController().signal
const all = async (buffer: ExperienceBuffer) => {
  const list = await buffer.take(1000)
  return list.map(({ eid, tokens, logprobs, reward, info }) => ({
    task: info.task_index,
    uid: uid(eid),
    tokens: tokens.join(),
    reward,
    logprobs: logprobs!.join(),
  }))
}

describe('Explorer', () => {
  it('fixed style, interval 1: every step is in the buffer before its sync, nothing runs during a sync', async () => {
    const { explorer, events, buffer, evaluations, logged } = await rig({ 'buffer.total_steps': 3 })
    await explorer.run(never)
    expect(events).toEqual([
      'eval 0',
      ...['log 1', 'put 1', 'log 1'],
      'sync 1 (0 running)',
      ...['log 2', 'put 2', 'log 2'],
      'sync 2 (0 running)',
      'eval 2',
      ...['log 3', 'put 3', 'log 3'],
      'finish',
      'sync 3 (0 running)',
    ])
    expect(evaluations.map(({ step }) => step)).toEqual([0, 2])
    expect(Object.keys(evaluations[0].metrics)).toEqual(
      expect.arrayContaining([
        'eval/held/reward/mean@2',
        'eval/held/reward/best@2',
        'eval/held/finished_task_count',
        'time/eval',
      ]),
    )
    expect((await all(buffer)).map(({ uid }) => uid.slice(0, 5))).toEqual([
      ...['1/0/0', '1/0/1', '1/1/0', '1/1/1'],
      ...['2/0/0', '2/0/1', '2/1/0', '2/1/1'],
      ...['3/0/0', '3/0/1', '3/1/0', '3/1/1'],
    ])
    const { metrics } = logged.find(({ step }) => step === 1)!
    expect(metrics).toMatchObject({
      'rollout/finished_task_count': 2,
      'rollout/failed_run_count': 0,
      'rollout/model_version': 0,
    })
    for (const name of ['rollout/reward/mean', 'rollout/time/run_execution/mean', 'explorer/event_loop_lag_ms/p99']) {
      expect(metrics[name], name).toBeTypeOf('number')
    }
  })

  it('logs all metrics of a step but the times of writing before its experiences are in the buffer', async () => {
    const { explorer, buffer, logged } = await rig({ 'buffer.total_steps': 2, 'explorer.eval_interval': 0 })
    const namesOf = (step: number) =>
      logged.filter((one) => one.step === step).flatMap(({ metrics }) => Object.keys(metrics))
    const before: string[][] = []
    const put = buffer.put.bind(buffer)
    buffer.put = async (list, options) => {
      before.push(namesOf(before.length + 1))
      await put(list, options)
    }
    await explorer.run(never)
    expect(before[0]).toEqual(
      expect.arrayContaining(['experience_pipeline/experience_count', 'rollout/reward/mean', 'rollout/model_version']),
    )
    const times = ['experience_pipeline/time/write', 'experience_pipeline/time/total']
    for (const step of [1, 2]) expect(namesOf(step)).toEqual([...before[step - 1], ...times])
  })

  it('offset and interval: several steps under way, finished in order, told in order', async () => {
    const keys = {
      'buffer.total_steps': 5,
      'synchronizer.sync_interval': 2,
      'synchronizer.sync_offset': 1,
      'explorer.eval_on_startup': false,
      'explorer.eval_interval': 0,
    }
    const { explorer, events } = await rig(keys)
    await explorer.run(never)
    expect(events.filter((event) => event.startsWith('put'))).toEqual(['put 1', 'put 2', 'put 3', 'put 4', 'put 5'])
    const order = events.filter((event) => !event.startsWith('log'))
    expect(order.indexOf('sync 1 (0 running)')).toBeGreaterThan(order.indexOf('put 3'))
    expect(events.filter((event) => event.startsWith('sync')).map((event) => event[5])).toEqual([
      '1',
      '2',
      '3',
      '4',
      '5',
    ])
  })

  it('fully_async: at most so many batches under way', async () => {
    const keys = {
      'buffer.total_steps': 6,
      'synchronizer.sync_style': 'fully_async',
      'synchronizer.sync_method': 'memory',
      'explorer.max_inflight_batches': 2,
      'explorer.eval_interval': 0,
      'explorer.eval_on_startup': false,
      'buffer.explorer_input.eval_tasksets': [],
    }
    const { explorer, events } = await rig(keys)
    await explorer.run(never)
    expect(events.filter((event) => event.startsWith('sync'))).toHaveLength(6)
    expect(explorer.mark?.step).toBe(6)
  })

  it('goes on from a mark exactly as if it had never stopped', async () => {
    const keys = { 'buffer.total_steps': 5, 'synchronizer.sync_interval': 2 }
    const whole = await rig(keys)
    await whole.explorer.run(never)
    const expected = await all(whole.buffer)
    for (const stop of [1, 2, 3, 4, 5]) {
      // The mark as it comes back from a checkpoint: JSON, of the last batch that counts.
      const first = await rig(keys)
      const marks: ExplorerMark[] = []
      const put = first.buffer.put.bind(first.buffer)
      first.buffer.put = async (list, options) => {
        marks.push(JSON.parse(JSON.stringify(options?.mark)))
        await put(list, options)
      }
      await first.explorer.run(never)
      const mark = marks[stop - 1]
      expect(mark).toMatchObject({ version: 1, step: stop })
      const second = await rig(keys)
      second.explorer.restore(mark)
      await second.explorer.run(never)
      expect(await all(second.buffer)).toEqual(expected.slice(stop * 4))
      expect(second.events.find((event) => event.startsWith('sync'))).toBe(`sync ${stop} (0 running)`)
      const evals = (events: string[]) => events.filter((event) => event.startsWith('eval'))
      expect(evals(second.events)).toEqual(evals(whole.events).filter((event) => Number(event.slice(5)) >= stop))
    }
  })

  it('ends at the first sync point at which so many tokens were sampled, also after a resume', async () => {
    // a step takes 16: two tasks, two runs, four tokens
    const keys = { 'buffer.total_steps': 9, 'buffer.total_tokens': 40, 'synchronizer.sync_interval': 2 }
    const whole = await rig(keys)
    await whole.explorer.run(never)
    expect(whole.explorer.mark).toMatchObject({ step: 4, sampledTokens: 64 })
    expect(whole.events.filter((event) => event === 'finish')).toHaveLength(1)
    const sampled = whole.logged.flatMap(({ metrics }) => metrics['rollout/sampled_tokens/sum'] ?? [])
    expect(sampled).toEqual([16, 16, 16, 16])
    const again = await rig(keys)
    again.explorer.restore(JSON.parse(JSON.stringify(whole.explorer.mark)))
    await again.explorer.run(never)
    expect(await all(again.buffer)).toEqual([])
    expect(again.events).toContain('finish')
  })

  it('a run in which everything of a step fails ends with the first causes', async () => {
    const { explorer, events } = await rig({
      'buffer.explorer_input.taskset.default_workflow_type': 'explorer_test_broken',
      'explorer.max_retry_times': 0,
      'explorer.eval_on_startup': false,
    })
    await expect(explorer.run(never)).rejects.toMatchObject({
      code: 'explorer/all-failed',
      // the same cause is named once
      message: expect.stringMatching(/task 0, run 0 and \d+ more: workflow_error: no environment here[^;]*$/),
    })
    expect(events).toEqual([])
  })

  it('an evaluation in which everything fails stops the run too', async () => {
    const { explorer } = await rig({
      'buffer.explorer_input.eval_tasksets': [
        { name: 'held', path: `${dir}/eval.jsonl`, default_workflow_type: 'explorer_test_broken' },
      ],
      'explorer.max_retry_times': 0,
    })
    await expect(explorer.run(never)).rejects.toThrow(/evaluation of 'held'/)
  })

  it('asked to end, it finishes the steps under way and begins no other', async () => {
    const stop = new AbortController()
    const { explorer, events, buffer } = await rig({
      'buffer.total_steps': 100,
      'buffer.total_epochs': 100,
      'synchronizer.sync_interval': 2,
      'explorer.eval_on_startup': false,
      'explorer.eval_interval': 0,
    })
    const put = buffer.put.bind(buffer)
    buffer.put = async (list, options) => {
      await put(list, options)
      if ((options?.mark as ExplorerMark | undefined)?.step === 3) stop.abort(new Error('asked to end'))
    }
    await explorer.run(never, stop.signal)
    const puts = events.filter((event) => event.startsWith('put'))
    expect(puts.slice(0, 3)).toEqual(['put 1', 'put 2', 'put 3'])
    expect(puts.length).toBe(explorer.step)
    expect(explorer.mark?.step).toBe(explorer.step)
    expect(explorer.step).toBeLessThan(10)
    // Whoever reads the buffer must not think that this was all.
    expect(events).not.toContain('finish')
  })

  it('asked to end, it does not wait for weights', async () => {
    const stop = new AbortController()
    const { explorer } = await rig(
      { 'buffer.total_steps': 100, 'buffer.total_epochs': 100 },
      {
        afterStep: (_, signal) =>
          new Promise((_resolve, reject) => {
            signal.addEventListener('abort', () => reject(signal.reason))
            setTimeout(() => stop.abort(new Error('asked to end')), 5)
          }),
      },
    )
    await explorer.run(never, stop.signal)
    expect(explorer.mark?.step).toBe(1)
  })

  it('stops when told to, and nothing is sampled any more', async () => {
    const control = new AbortController()
    const { explorer, sampler } = await rig({ 'buffer.total_steps': 100, 'buffer.total_epochs': 100 })
    const running = explorer.run(control.signal)
    setTimeout(() => control.abort(new Error('interrupted')), 40)
    await expect(running).rejects.toThrow('interrupted')
    expect(sampler.stats().running).toBe(0)
  })

  it('evaluates by itself, for mode bench', async () => {
    const { explorer, logged } = await rig()
    const metrics = await explorer.evaluate(7, { prefix: 'bench' })
    expect(metrics['bench/held/finished_task_count']).toBe(3)
    expect(logged).toMatchObject([{ step: 7 }])
  })
})
