import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { modelOf, silent, speaker, taskOf } from '../../test/support/workflow-kit.js'
import { deriveSeed } from '../base/random/derive-seed.js'
import { Pcg64 } from '../base/random/index.js'
import type { SampleModel } from '../engine/contract.js'
import type { Experience } from '../experience/index.js'
import { uid } from '../experience/index.js'
import type { Task } from '../task/index.js'
import { AuxiliaryModels } from '../workflow/auxiliary.js'
import { workflows } from '../workflow/registry.js'
import { Workflow, type WorkflowEntry } from '../workflow/workflow.js'
import { failuresOf, type RolloutBatchResult, type RolloutBatchSpec } from './batch.js'
import type { RunnerOptions } from './runner.js'
import { RolloutScheduler } from './scheduler.js'
import { stepMetrics } from './step.js'
import { AttemptTimeout } from './timeout.js'
import { workHere } from './workplace.js'

const OFF = { enable: false, warmup_min_steps: 1, ratio: 3 }
let names = 0

/** Registers a workflow under a name of its own. */
function named(entry: WorkflowEntry): string {
  const name = `scheduler_test_${names++}`
  workflows.add(name, entry)
  return name
}

function scheduler(sampler: SampleModel, more: Partial<RunnerOptions> & { runners?: number; seconds?: number } = {}) {
  return new RolloutScheduler(more.runners ?? 4, {
    workplace: workHere((job, { run, repeat, attempt }, signal) => ({
      task: job.task,
      model: modelOf(sampler, {
        n: repeat,
        signal,
        seedOf: (call) => deriveSeed(7, job.batch, job.taskId, run, attempt, call),
      }),
      auxiliary: new AuxiliaryModels(),
      logger: silent,
      random: new Pcg64(deriveSeed(7, job.batch, job.taskId, run, attempt)),
      signal,
      run,
      repeat,
    })),
    timeout: new AttemptTimeout({ max_timeout: more.seconds ?? 60, dynamic_timeout: OFF }),
    retries: 0,
    backoffMs: 1,
    graceMs: 30,
    concurrent: false,
    seed: 7,
    loggerOf: () => silent,
    ...more,
  })
}

const batch = (tasks: Task[], more: Partial<RolloutBatchSpec> = {}): RolloutBatchSpec => ({
  id: 1,
  order: 1,
  kind: 'train',
  tasks,
  ...more,
})
const tasks = (workflow: string, count: number, repeatTimes = 1) =>
  Array.from({ length: count }, (_, row) => taskOf({ workflow, repeatTimes, index: { taskset: 2, row }, raw: { row } }))
const experiences = ({ tasks }: RolloutBatchResult): Experience[] =>
  tasks.flatMap(({ runs }) => runs.flatMap((run) => [...run.experiences]))
const talk = named(({ model }) => model.chat([{ role: 'user', content: 'hi' }], { max_tokens: 6, ignore_eos: true }))

describe('RolloutScheduler', () => {
  it('runs every task as often as it wants, and says of each experience where it comes from', async () => {
    const result = await scheduler(await speaker(undefined)).submit(batch(tasks(talk, 3, 2))).done
    const all = experiences(result)
    expect(all.map(({ eid }) => `${eid.batch}/${eid.task}/${eid.run}`)).toEqual([
      '1/0/0',
      '1/0/1',
      '1/1/0',
      '1/1/1',
      '1/2/0',
      '1/2/1',
    ])
    expect(new Set(all.map(({ eid }) => uid(eid))).size).toBe(6)
    expect(all[2].info).toEqual({ task_index: { taskset_id: 2, index: 1 }, model_version_drift: 0 })
    expect(result.tasks[0].runs[0].metrics).toMatchObject({ response_length: 6, token_divergences: 0 })
  })

  it('counts why a run could not go on from what it had said', async () => {
    const forgetful = named(async ({ model }) => {
      await model.chat([{ role: 'user', content: 'hi' }])
      await model.chat([{ role: 'user', content: 'hi' }])
      return model.chat([{ role: 'user', content: 'ho' }])
    })
    const result = await scheduler(await speaker(() => 'x')).submit(batch(tasks(forgetful, 2))).done
    const why = { 'token_divergences/again:sum': 1, 'token_divergences/beginning:sum': 1 }
    expect(result.tasks[0].runs[0].metrics).toMatchObject({ token_divergences: 2, ...why })
    expect(stepMetrics(result)).toMatchObject({
      'rollout/token_divergences/mean': 2,
      'rollout/token_divergences/again/sum': 2,
    })
  })

  it('counts what requests of a run lost, by label', async () => {
    const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AA' } }
    const agent = named(async ({ model }) => {
      await model.openai().chat.completions.create({
        messages: [
          { role: 'user', content: 'hi' },
          { role: 'tool', tool_call_id: 'c', content: [image] },
        ],
        client_metadata: {},
      })
      return model.toExperiences()
    })
    const result = await scheduler(await speaker(() => 'x')).submit(batch(tasks(agent, 2))).done
    expect(stepMetrics(result)).toMatchObject({
      'rollout/ignored_request_fields/client_metadata/sum': 2,
      'rollout/replaced_media/image/sum': 2,
    })
    expect(Object.keys(stepMetrics(result)).filter((key) => key.includes('dropped_tools'))).toEqual([])
  })

  it('gives the same experiences in the same order whatever finishes first', async () => {
    const slow = named(async ({ model, task, run }) => {
      const [first] = await model.generate('a', { max_tokens: 5, ignore_eos: true })
      await sleep(((task.raw.row as number) * 7 + run * 3) % (task.raw.delay as number))
      const [second] = await model.generate(first.tokens, { max_tokens: 3, ignore_eos: true })
      second.reward = second.tokens.at(-1)!
      return second
    })
    const once = async (delay: number, runners: number, concurrent: boolean, maxRepeat?: number) => {
      const list = tasks(slow, 5, 3).map((task) => ({ ...task, raw: { ...task.raw, delay } }))
      const result = await scheduler(await speaker(undefined), { runners, concurrent }).submit(
        batch(list, { maxRepeat }),
      ).done
      return experiences(result).map(({ eid, tokens, logprobs, reward }) => [
        uid(eid),
        tokens.join(),
        logprobs!.join(),
        reward,
      ])
    }
    const expected = await once(1, 1, false)
    const options = [
      fc.integer({ min: 1, max: 9 }),
      fc.integer({ min: 1, max: 6 }),
      fc.boolean(),
      fc.constantFrom(1, 2, undefined),
    ] as const
    await fc.assert(
      fc.asyncProperty(...options, async (delay, runners, concurrent, maxRepeat) => {
        expect(await once(delay, runners, concurrent, maxRepeat)).toEqual(expected)
      }),
      { numRuns: 15 },
    )
  })

  it('tries again with another seed, and only the run that failed', async () => {
    const attempts: Record<number, number[]> = {}
    const shaky = named(async ({ model, run, random }) => {
      attempts[run] = [...(attempts[run] ?? []), random.uint32()]
      if (run === 1 && attempts[run].length < 3) throw new Error('shaky')
      return model.generate('a', { max_tokens: 2 })
    })
    const result = await scheduler(await speaker(undefined), { retries: 2 }).submit(batch(tasks(shaky, 1, 3))).done
    expect([attempts[0].length, attempts[1].length, attempts[2].length]).toEqual([1, 3, 1])
    expect(new Set(attempts[1]).size).toBe(3)
    expect(result.tasks[0].runs.map((run) => run.attempts)).toEqual([1, 3, 1])
    expect(failuresOf(result).failed).toBe(0)
  })

  it('a failed run is data with a reason, without a reward, and its siblings are kept', async () => {
    const bad = named(async ({ model, run }) => {
      if (run === 1) throw new Error('the environment broke')
      return model.generate('a', { max_tokens: 2 })
    })
    const result = await scheduler(await speaker(undefined), { retries: 1 }).submit(batch(tasks(bad, 1, 3))).done
    const failed = experiences(result)[1]
    expect(failed).toMatchObject({
      failure: { reason: 'workflow_error', message: 'the environment broke' },
      eid: { run: 1 },
    })
    expect([failed.reward, failed.tokens.length]).toEqual([undefined, 0])
    expect(experiences(result)).toHaveLength(3)
    expect(failuresOf(result)).toMatchObject({ runs: 3, failed: 1, reasons: { workflow_error: 1 } })
  })

  it('does not try again what cannot work', async () => {
    let calls = 0
    const long = named(async ({ model }) => {
      calls++
      return model.chat([{ role: 'user', content: 'x'.repeat(5000) }])
    })
    const sampler = await speaker(undefined)
    const strict = { maxModelLen: 100, truncatePrompts: false }
    const rollouts = scheduler(sampler, {
      retries: 3,
      workplace: workHere((job, { run, repeat }, signal) => ({
        task: job.task,
        model: modelOf(sampler, { limits: strict, signal }),
        auxiliary: new AuxiliaryModels(),
        logger: silent,
        random: new Pcg64(1),
        signal,
        run,
        repeat,
      })),
    })
    const result = await rollouts.submit(batch(tasks(long, 1))).done
    expect(calls).toBe(1)
    expect(failuresOf(result).reasons).toEqual({ prompt_too_long: 1 })
  })

  it('the time limit is one of each attempt, and stops the sampling', async () => {
    const sampler = await speaker(() => 'on and on '.repeat(1000), { latencyMs: 2, maxModelLen: 100_000 })
    let attempts = 0
    const endless = named(async ({ model }) => {
      attempts++
      return model.generate('a', { max_tokens: 50_000 })
    })
    const rollouts = scheduler(sampler, { retries: 1, seconds: 0.05 })
    const result = await rollouts.submit(batch(tasks(endless, 1))).done
    expect([attempts, failuresOf(result).reasons]).toEqual([2, { timeout: 1 }])
    await sleep(10)
    const sampled = sampler.stats().sampledTokens
    await sleep(30)
    expect(sampler.stats()).toMatchObject({ sampledTokens: sampled, running: 0 })
    expect(rollouts.busy).toBe(0)
  })

  it('leaves a workflow behind that ignores its signal', async () => {
    const deaf = named(() => new Promise(() => {}))
    const result = await scheduler(await speaker(undefined), { seconds: 0.03 }).submit(batch(tasks(deaf, 1))).done
    expect(failuresOf(result).reasons).toEqual({ timeout: 1 })
  })

  it('closes a workflow whatever happens', async () => {
    const closed: number[] = []
    class Closing extends Workflow {
      async run(): Promise<Experience[]> {
        if (this.context.run === 1) throw new Error('no')
        return this.model.generate('a', { max_tokens: 1 })
      }
      override async close() {
        closed.push(this.context.run)
      }
    }
    await scheduler(await speaker(undefined)).submit(batch(tasks(named(Closing), 1, 2))).done
    expect(closed).toEqual([0, 1])
  })

  it('counts a workflow that gives nothing, and checks run numbers of those that repeat themselves', async () => {
    const nothing = named(async () => [])
    class Wrong extends Workflow {
      static override readonly repeats = true
      async run() {
        return this.model.generate('a', { max_tokens: 1, n: 5 })
      }
    }
    const one = await scheduler(await speaker(undefined)).submit(batch(tasks(nothing, 1))).done
    expect(failuresOf(one).reasons).toEqual({ no_response: 1 })
    const rollouts = scheduler(await speaker(undefined))
    const two = await rollouts.submit(batch(tasks(named(Wrong), 1, 4), { maxRepeat: 2 })).done
    // Runs 0 and 1 have numbers that exist; runs 2 and 3 were given as 0.
    expect(failuresOf(two).first[0]).toMatch(/eid.run|nothing for this run/)
  })

  it('a workflow says how many runs a task takes, numbers what it tries again, and what its reward is', async () => {
    class Twice extends Workflow {
      static override runsOf(task: Task) {
        return task.repeatTimes / 2
      }
      async run() {
        const [first] = await this.model.generate('a', { max_tokens: 1 })
        const [second] = await this.model.branch('second').generate('a', { max_tokens: 1 })
        Object.assign(first, { reward: 0.25, metrics: { reward: 0.25 } })
        Object.assign(second, { reward: 1, eid: { ...second.eid, run: this.task.repeatTimes + this.context.run } })
        return [first, second]
      }
    }
    const result = await scheduler(await speaker(undefined)).submit(batch(tasks(named(Twice), 1, 4))).done
    expect(failuresOf(result).runs).toBe(2)
    expect(experiences(result).map(({ eid }) => eid.run)).toEqual([0, 4, 1, 5])
    expect(new Set(experiences(result).map(({ eid }) => uid(eid))).size).toBe(4)
    for (const { metrics } of result.tasks[0].runs) expect(metrics.reward).toBe(0.25)
  })

  it('over-rollout: enough tasks end the step, stragglers are stopped', async () => {
    const sampler = await speaker(undefined, { latencyMs: 2, maxModelLen: 100_000 })
    const uneven = named(async ({ model, task }) =>
      model.generate('a', { max_tokens: (task.raw.row as number) >= 3 ? 50_000 : 2, ignore_eos: true }),
    )
    const rollouts = scheduler(sampler, { runners: 8 })
    const result = await rollouts.submit(batch(tasks(uneven, 5), { enough: 3, waitMs: 10 })).done
    expect(result.tasks.map(({ taskId }) => taskId)).toEqual([0, 1, 2])
    expect(result.cut).toBe(2)
    await sleep(20)
    expect([sampler.stats().running, rollouts.busy]).toEqual([0, 0])
  })

  it('over-rollout can keep the finished runs of unfinished tasks', async () => {
    const sampler = await speaker(undefined, { latencyMs: 1, maxModelLen: 100_000 })
    const uneven = named(async ({ model, task, run }) =>
      model.generate('a', { max_tokens: task.raw.row === 1 && run === 2 ? 50_000 : 2, ignore_eos: true }),
    )
    for (const maxRepeat of [undefined, 1]) {
      const spec = batch(tasks(uneven, 2, 3), { enough: 1, waitMs: 400, keepPartial: true, maxRepeat })
      const result = await scheduler(sampler, { runners: 6 }).submit(spec).done
      expect(result.tasks.map(({ complete, runs }) => [complete, runs.map(({ run }) => run)])).toEqual([
        [true, [0, 1, 2]],
        [false, [0, 1]],
      ])
    }
  })

  it('an aborted batch fails with the reason and frees its runners', async () => {
    const sampler = await speaker(undefined, { latencyMs: 2, maxModelLen: 100_000 })
    const endless = named(({ model }) => model.generate('a', { max_tokens: 50_000, ignore_eos: true }))
    const rollouts = scheduler(sampler, { retries: 5 })
    const running = rollouts.submit(batch(tasks(endless, 8)))
    await sleep(20)
    expect(rollouts.report()).toMatch(
      /^4 of 4 runners busy, 4 jobs waiting\nrunner 0: 1\/0\/0 \(scheduler_test_\d+\) since \d/,
    )
    rollouts.abort(new Error('stop now'))
    await expect(running.done).rejects.toThrow('stop now')
    await sleep(20)
    expect([sampler.stats().running, rollouts.busy, rollouts.waiting]).toEqual([0, 0, 0])
  })

  it('works on earlier batches first, and on training before evaluation', async () => {
    const order: string[] = []
    const note = named(async ({ model, task }) => {
      order.push(String(task.batchId))
      return model.generate('a', { max_tokens: 1 })
    })
    const rollouts = scheduler(await speaker(undefined), { runners: 1 })
    const submitted = [
      rollouts.submit(batch(tasks(note, 1), { id: 'first', order: 0 })),
      rollouts.submit(batch(tasks(note, 1), { id: 3, order: 3 })),
      rollouts.submit(batch(tasks(note, 1), { id: '2/set', order: 2, kind: 'eval' })),
      rollouts.submit(batch(tasks(note, 1), { id: 2, order: 2 })),
    ]
    await rollouts.hungry()
    await Promise.all(submitted.map(({ done }) => done))
    expect(order).toEqual(['first', '2', '2/set', '3'])
  })

  it('hundreds of conversations at once', async () => {
    const talker = named(async ({ model }) => {
      const messages: { role: string; content: string }[] = []
      for (let turn = 0; turn < 3; turn++) {
        messages.push({ role: 'user', content: 'go on' })
        const [answer] = await model.chat(messages, { max_tokens: 5, ignore_eos: true })
        messages.push({ role: 'assistant', content: answer.responseText! })
      }
      return model.toExperiences()
    })
    const sampler = await speaker(() => 'tell')
    const result = await scheduler(sampler, { runners: 400 }).submit(batch(tasks(talker, 400))).done
    const all = experiences(result)
    expect(failuresOf(result).failed).toBe(0)
    expect(all.map(({ eid }) => eid.task)).toEqual(Array.from({ length: 400 }, (_, i) => i))
    expect(all.every(({ actionMask }) => actionMask.filter(Boolean).length === 15)).toBe(true)
  })

  it('refuses an unknown workflow before anything runs', async () => {
    const rollouts = scheduler(await speaker(undefined))
    expect(() => rollouts.submit(batch(tasks('scheduler_test_', 1)))).toThrow(/unknown workflow/)
  })
})

describe('AttemptTimeout', () => {
  it('follows the run after its warm-up, never above the limit', () => {
    const timeout = new AttemptTimeout({
      max_timeout: 10,
      dynamic_timeout: { enable: true, warmup_min_steps: 1, ratio: 3 },
    })
    timeout.observe(1000)
    expect(timeout.ms).toBe(10_000)
    timeout.stepDone()
    timeout.observe(3000)
    expect(timeout.ms).toBe(6000)
    timeout.observe(50_000)
    expect(timeout.ms).toBe(10_000)
  })
})
