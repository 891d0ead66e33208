import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { isWrongUse } from '../../src/base/wrong-use.js'
import type { BestEval } from '../../src/checkpoint/index.js'
import type { BenchResult } from '../../src/run/bench-results.js'
import { Stop } from '../../src/run/index.js'
import { Bench, Recorder } from './kit.js'

let bench: Bench
let count = 0
let name = ''

beforeAll(async () => {
  bench = await Bench.make()
})
beforeEach(() => {
  name = `job${++count}`
})
afterAll(() => bench.remove())

/** Versions of the samplers' weights by explorer step. */
const versions = () =>
  bench
    .metrics('explorer', name)
    .filter((row) => 'rollout/finished_task_count' in row)
    .map((row) => row['sample/model_version/mean'] ?? row['rollout/model_version'])
const trained = () => bench.metrics('trainer', name).map((row) => row['sample/model_version/mean'])

const logs = () => readdirSync(bench.job(name, 'log'))

describe('mode both', () => {
  it('trains to the end, evaluates, saves, and says what came of it', async () => {
    const { end, steps, summary } = await bench.run({ name, 'trainer.save_interval': 4 })
    expect({ end, steps }).toEqual({ end: 'finished', steps: 6 })
    expect(trained()).toEqual([0, 1, 2, 3, 4, 5])
    expect(bench.checkpoints(name).sort()).toEqual(['global_step_4', 'global_step_6'])
    expect(summary).toMatchObject({ ok: true, steps: 6, firstEval: { step: 0 } })
    expect(summary.checkpoint).toBe(bench.job(name, 'global_step_6', 'actor', 'huggingface'))
    const evaluated = bench.metrics('explorer', name).filter((row) => 'eval/held/reward/mean@1' in row)
    expect(evaluated.map(({ step }) => step)).toEqual([0, 3, 6])
    expect(logs()).toEqual(expect.arrayContaining(['queue_experience_buffer.log', 'synchronizer.log', 'trainer.log']))
  })

  it('log.level: debug adds every answer and every number', async () => {
    await bench.run({ name, 'buffer.total_steps': 1, 'log.level': 'debug' })
    const text = (file: string) => readFileSync(bench.job(name, 'log', file), 'utf8')
    expect(text('explorer_runner_0.log')).toMatch(/DEBUG .*run [\w/]+ \(count_workflow\): \d+ ms; reward .*tokens: "/)
    expect(text('trainer.log')).toMatch(/DEBUG .*step 1: \{.*"actor\/loss":/)
  })

  it('with an offset trains on data that are one step old, and evaluates the last weights at the end', async () => {
    await bench.run({ name, 'synchronizer.sync_offset': 1 })
    expect(trained()).toEqual([0, 0, 1, 2, 3, 4])
    const last = bench.metrics('explorer', name).at(-1)!
    expect(last['rollout/model_version']).toBe(6)
    expect(last).toHaveProperty('eval/held/reward/mean@1')
  })

  it('gives the same numbers through checkpoint files as through memory', async () => {
    await bench.run({ name, 'synchronizer.sync_method': 'checkpoint', 'synchronizer.sync_interval': 2 })
    const files = [bench.metrics('trainer', name), bench.metrics('explorer', name)].map(withoutClocks)
    name = `job${++count}`
    await bench.run({ name, 'synchronizer.sync_method': 'memory', 'synchronizer.sync_interval': 2 })
    expect([bench.metrics('trainer', name), bench.metrics('explorer', name)].map(withoutClocks)).toEqual(files)
  })

  it.each(['explorer_driven', 'trainer_driven', 'fully_async'])('%s ends with everything trained', async (style) => {
    const keys = style === 'fully_async' ? { 'buffer.explorer_input.eval_tasksets': [] } : {}
    const { steps } = await bench.run({ name, 'synchronizer.sync_style': style, ...keys })
    expect(steps).toBe(6)
    const seen = trained()
    expect([...seen].sort((a, b) => a - b)).toEqual(seen)
    expect(versions().every((version) => version >= 0)).toBe(true)
  })

  it('does not stand still when steps make fewer experiences than a batch, and says so once', async () => {
    const { steps, view } = await bench.run({ name, 'buffer.train_batch_size': 8 })
    expect(steps).toBe(3)
    expect(view.notes.filter((note) => note.includes('train_batch_size'))).toHaveLength(1)
  })

  it('ends the explorer when the trainer has its steps', async () => {
    const { end, steps } = await bench.run({ name, 'trainer.total_steps': 2 })
    expect({ end, steps }).toEqual({ end: 'finished', steps: 2 })
    const last = bench.metrics('explorer', name).at(-1)!
    expect(last['rollout/model_version']).toBe(2)
  })

  it('finishes once: the second time there is nothing to do, and more steps go on', async () => {
    await bench.run({ name, 'buffer.total_steps': 2 })
    const again = await bench.run({ name, 'buffer.total_steps': 2 })
    expect(again).toMatchObject({ end: 'before', steps: 2 })
    const commandWith = (key: string, value: number) => `trinity run --set ${key}=${value}`
    const { summary } = await bench.run({ name, 'buffer.total_steps': 2 }, { commandWith })
    expect(summary.next?.slice(0, 2)).toEqual([
      'trinity run --set buffer.total_steps=4   trains twice as long, as it is set now',
      'trinity run --fresh   starts over',
    ])
    expect(again.view.phases).toEqual([])
    const more = await bench.run({ name, 'buffer.total_steps': 5 })
    expect(more).toMatchObject({ end: 'finished', steps: 5, summary: { steps: 5, now: 3 } })
    expect(bench.metrics('trainer', name).map(({ step }) => step)).toEqual([1, 2, 3, 4, 5])
  })

  it('refuses another model or algorithm in the same folder', async () => {
    await bench.run({ name, 'buffer.total_steps': 1 })
    await expect(bench.run({ name, 'algorithm.algorithm_type': 'opmd' })).rejects.toMatchObject({
      code: 'checkpoint/other-job',
    })
  })
})

describe('a run that goes on with other settings', () => {
  it('says once which', async () => {
    await bench.run({ name, 'buffer.total_steps': 2 })
    const change = { 'algorithm.optimizer.lr': 1e-3, 'buffer.batch_size': 1 }
    const { view } = await bench.run({ name, ...change, 'buffer.total_steps': 3 })
    const said = view.notes.filter((note) => note.includes('→'))
    expect(said).toEqual([expect.stringMatching(/^settings changed since then: /)])
    expect(said[0]).toMatch(/algorithm\.optimizer\.lr \S+ → 0\.001/)
    expect(said[0]).toMatch(/buffer\.batch_size \d+ → 1/)
    expect(said[0].match(/→/g)).toHaveLength(2)
    const same = await bench.run({ name, ...change, 'buffer.total_steps': 4 })
    expect(same.view.notes.filter((note) => note.includes('→'))).toEqual([])
  })
})

describe('a stop', () => {
  it('lets the step end, saves, and the same run goes on with the same numbers', async () => {
    await bench.run({ name })
    const whole = withoutClocks(bench.metrics('trainer', name))
    name = `job${++count}`
    const stop = new Stop()
    const view = new Recorder()
    view.onMetrics = (role, step) => {
      if (role === 'trainer' && step === 3) stop.request()
    }
    const first = await bench.run({ name }, { stop, view })
    expect(first).toMatchObject({ end: 'stopped', steps: 3 })
    expect(first.summary.next?.[0]).toContain('resumes')
    const second = await bench.run({ name })
    expect(second).toMatchObject({ end: 'finished', steps: 6 })
    expect(withoutClocks(bench.metrics('trainer', name))).toEqual(whole)
  })

  it('at once leaves a folder that goes on', async () => {
    const stop = new Stop()
    const view = new Recorder()
    view.onPhase = (role, what) => {
      if (role === 'trainer' && what === 'step 4: training') stop.force()
    }
    const stopped = bench.run({ name, 'trainer.save_interval': 1 }, { stop, view })
    await expect(stopped).rejects.toThrow('stop immediately')
    expect(await bench.run({ name })).toMatchObject({ end: 'finished', steps: 6 })
  })
})

describe('a failure', () => {
  it('of every rollout stops the trainer and is the error', async () => {
    const set = { path: join(bench.dir, 'tasks.jsonl'), default_workflow_type: 'throwing_workflow' }
    const keys = { 'buffer.explorer_input.taskset': { ...set, format: { prompt_key: 'q' } } }
    await expect(bench.run({ name, ...keys })).rejects.toMatchObject({
      code: 'explorer/all-failed',
      message: expect.stringContaining('no such luck'),
    })
    expect(readFileSync(bench.job(name, 'log', 'run.log'), 'utf8')).toContain('no such luck')
  })

  it('of the trainer stops the explorer and is the error', async () => {
    const view = new Recorder()
    view.onPhase = (role, what) => {
      if (role === 'trainer' && what === 'step 2: training') throw new Error('the trainer broke')
    }
    await expect(bench.run({ name }, { view, mock: { latencyMs: 1 } })).rejects.toThrow('the trainer broke')
    expect(view.summary).toMatchObject({ ok: false, steps: 1 })
    expect(view.summary?.next).toEqual([expect.stringContaining('details'), expect.stringContaining('starts again')])
  })

  it('before the first step does not suggest to try the same again', async () => {
    const view = new Recorder()
    view.onPhase = (role, what) => {
      if (role === 'trainer' && what === 'step 1: training') throw new Error('the trainer broke')
    }
    await expect(bench.run({ name }, { view })).rejects.toThrow('the trainer broke')
    expect(view.summary).toMatchObject({ ok: false, steps: 0, next: [expect.stringContaining('details')] })
  })

  it('of data that cannot be read is wrong use before the first step, and nothing is summed up', async () => {
    const path = join(bench.dir, 'broken.jsonl')
    writeFileSync(path, '{"q": \n'.repeat(8))
    const view = new Recorder()
    const broken = bench.run({ name, 'buffer.explorer_input.taskset.path': path }, { view }).catch((error) => error)
    expect(await broken).toMatchObject({ code: 'data/malformed' })
    expect(isWrongUse(await broken)).toBe(true)
    expect(view.summary).toBeUndefined()
  })

  it('is found before anything is opened where it can be', async () => {
    const unknown = bench.run({ name, 'buffer.explorer_input.taskset.default_workflow_type': 'count_workfow' })
    await expect(unknown).rejects.toMatchObject({
      code: 'registry/unknown',
      hint: expect.stringContaining('count_workflow'),
    })
    const nothing = bench.run({ name, 'buffer.total_steps': null, 'buffer.batch_size': 100 })
    await expect(nothing).rejects.toMatchObject({ code: 'config/nothing-to-do' })
    await expect(bench.run({ name, 'model.model_path': 'not/there/at/all' })).rejects.toThrow('not/there/at/all')
  })

  it('leaves no lock behind', async () => {
    await expect(bench.run({ name, 'model.model_path': 'not/there/at/all' })).rejects.toThrow()
    expect(await bench.run({ name, 'buffer.total_steps': 1 })).toMatchObject({ end: 'finished' })
  })
})

describe('explorer and trainer as two runs', () => {
  const sql = () => ({ name, 'buffer.trainer_input.experience_buffer': { storage_type: 'sql' } })

  it.each(['fixed', 'explorer_driven', 'trainer_driven'])('meet in the job directory: %s', async (style) => {
    const keys = { ...sql(), 'synchronizer.sync_style': style, 'synchronizer.sync_timeout': 20 }
    const [explorer, trainer] = await Promise.all([
      bench.run({ ...keys, mode: 'explore' }),
      bench.run({ ...keys, mode: 'train', 'buffer.train_batch_size': 4 }),
    ])
    expect(explorer).toMatchObject({ end: 'finished', steps: 6 })
    expect(trainer).toMatchObject({ end: 'finished', steps: 6 })
    if (style === 'fixed') expect(trained()).toEqual([0, 1, 2, 3, 4, 5])
    else expect(trained()[0]).toBe(0)
    expect(logs()).toEqual(expect.arrayContaining(['sql_experience_buffer.log', 'synchronizer.log', 'explorer.log']))
  })

  it('an explorer ends when its trainer has ended', async () => {
    const keys = { ...sql(), 'synchronizer.sync_timeout': 20 }
    const [explorer, trainer] = await Promise.all([
      bench.run({ ...keys, mode: 'explore', 'buffer.total_steps': 50 }),
      bench.run({ ...keys, mode: 'train', 'buffer.train_batch_size': 4, 'trainer.total_steps': 2 }),
    ])
    expect(trainer.steps).toBe(2)
    expect(explorer.steps).toBeLessThan(50)
    expect(explorer.view.notes.join()).toContain('the trainer ended after step 2')
  })

  it('go on after both were stopped, and no row is used twice', async () => {
    const keys = { ...sql(), 'synchronizer.sync_timeout': 20 }
    const stop = new Stop()
    const view = new Recorder()
    view.onMetrics = (role, step) => {
      if (role === 'trainer' && step === 2) stop.request()
    }
    const both = (given: { stop?: Stop; view?: Recorder }) =>
      Promise.all([
        bench.run({ ...keys, mode: 'explore' }, { stop: given.stop }),
        bench.run({ ...keys, mode: 'train', 'buffer.train_batch_size': 4 }, given),
      ])
    const first = await both({ stop, view })
    expect(first.map(({ end }) => end)).toEqual(['stopped', 'stopped'])
    const second = await both({})
    expect(second.map(({ end }) => end)).toEqual(['finished', 'finished'])
    expect(second[0].steps).toBe(6)
    expect(second[1].steps).toBeLessThanOrEqual(6)
  })

  it('keeps the evaluations of steps that a resumed trainer makes again', async () => {
    const keys = { ...sql(), 'synchronizer.sync_timeout': 20, 'explorer.eval_interval': 2 }
    const train = (given: { stop?: Stop; view?: Recorder } = {}) =>
      bench.run({ ...keys, mode: 'train', 'buffer.train_batch_size': 4, 'trainer.save_interval': 100 }, given)
    const evaluated = (): [number, number][] => {
      const { history }: BestEval = JSON.parse(readFileSync(bench.job(name, 'best_eval.json'), 'utf8'))
      return history.map(({ step, score }) => [step, score])
    }
    await Promise.all([bench.run({ ...keys, mode: 'explore' }), train()])
    const whole = evaluated()
    expect(whole.map(([step]) => step)).toEqual([0, 2, 4, 6])

    name = `job${++count}`
    keys.name = name
    const explorer = bench.run({ ...keys, mode: 'explore' })
    const stop = new Stop()
    const view = new Recorder()
    view.onPhase = (role, what) => {
      // the explorer has evaluated the weights of step 2 before its step 4
      if (role === 'trainer' && what === 'step 4: training') stop.force()
    }
    await expect(train({ stop, view })).rejects.toThrow('stop immediately')
    expect(bench.checkpoints(name)).not.toContain('global_step_4')
    expect(await train()).toMatchObject({ end: 'finished', steps: 6 })
    expect(await explorer).toMatchObject({ end: 'finished', steps: 6 })
    expect(evaluated()).toEqual(whole)
  })

  it('an explorer ends that comes back when its trainer has ended', { timeout: 60_000 }, async () => {
    const keys = { ...sql(), 'synchronizer.sync_timeout': 40, 'trainer.total_steps': 2 }
    const stop = new Stop()
    const view = new Recorder()
    view.onMetrics = (_, step) => {
      if (step === 2) stop.request()
    }
    const [explorer, trainer] = await Promise.all([
      bench.run({ ...keys, mode: 'explore' }, { stop, view }),
      bench.run({ ...keys, mode: 'train', 'buffer.train_batch_size': 4 }),
    ])
    expect([explorer.end, trainer.end, trainer.steps]).toEqual(['stopped', 'finished', 2])
    const again = await bench.run({ ...keys, mode: 'explore' })
    expect(again.steps).toBe(3)
    expect(again.view.notes.join()).toContain('the trainer ended after step 2')
  })

  it('more steps go on, whichever of the two is started first', async () => {
    const keys = { ...sql(), 'synchronizer.sync_timeout': 20 }
    const explore = (steps: number) => bench.run({ ...keys, mode: 'explore', 'buffer.total_steps': steps })
    const train = (steps: number) =>
      bench.run({ ...keys, mode: 'train', 'buffer.train_batch_size': 4, 'buffer.total_steps': steps })
    await Promise.all([explore(2), train(2)])
    const trainer = train(4)
    await sleep(1500)
    const more = await Promise.all([explore(4), trainer])
    expect(more.map(({ end, steps }) => [end, steps])).toEqual([
      ['finished', 4],
      ['finished', 4],
    ])
    const explorer = explore(6)
    await sleep(1500)
    expect((await train(6)).steps).toBe(6)
    expect((await explorer).steps).toBe(6)
  })
})

describe('mode train on a data set', () => {
  const text = `
project: p
name: job
checkpoint_root_dir: DIR
mode: train
algorithm: {algorithm_type: sft, optimizer: {lr: 0.05}}
model: {model_path: DIR/model, max_model_len: 48}
buffer:
  train_batch_size: 4
  total_epochs: 2
  trainer_input: {experience_buffer: {path: DIR/sft.jsonl, format: {prompt_type: plaintext, prompt_key: q, response_key: a}}}
monitor: {monitor_type: jsonl}
`
  beforeAll(() => {
    const rows = Array.from({ length: 16 }, (_, i) => `${JSON.stringify({ q: `${i}+${i}=`, a: `${2 * i}` })}\n`)
    writeFileSync(join(bench.dir, 'sft.jsonl'), rows.join(''))
  })

  it('learns, resumes exactly, and says when there is too little data', async () => {
    const { steps } = await bench.run({ name }, { text })
    expect(steps).toBe(8)
    const whole = withoutClocks(bench.metrics('trainer', name))
    expect(whole.at(-1)!['actor/loss']).toBeLessThan(whole[0]['actor/loss'])
    name = `job${++count}`
    const stop = new Stop()
    const view = new Recorder()
    view.onMetrics = (_, step) => {
      if (step === 3) stop.request()
    }
    expect(await bench.run({ name }, { text, stop, view })).toMatchObject({ end: 'stopped', steps: 3 })
    expect(await bench.run({ name }, { text })).toMatchObject({ end: 'finished', steps: 8 })
    expect(withoutClocks(bench.metrics('trainer', name))).toEqual(whole)
    name = `job${++count}`
    await expect(bench.run({ name, 'buffer.train_batch_size': 100 }, { text })).rejects.toMatchObject({
      code: 'config/nothing-to-do',
    })
  })
})

describe('mode bench', () => {
  it('evaluates the model and every checkpoint, or the newest', async () => {
    await bench.run({ name, 'trainer.save_interval': 2, 'explorer.eval_interval': 0 })
    expect(await bench.run({ name, mode: 'bench' })).toMatchObject({ end: 'finished', steps: 6 })
    const rows = bench.metrics('benchmark', name).filter((row) => 'bench/held/reward/mean@1' in row)
    expect(rows.map(({ step }) => step)).toEqual([0, 2, 4, 6])
    const { results } = JSON.parse(readFileSync(bench.job(name, 'bench', 'results.json'), 'utf8'))
    const scores = results.map((one: BenchResult) => [one.step, one.tasksets.held.score])
    expect(scores).toEqual(rows.map((row) => [row.step, row['bench/held/reward/mean@1']]))
    const view = new Recorder()
    await bench.run({ name, mode: 'bench', 'explorer.bench_on_latest_checkpoint': true }, { view })
    expect(view.steps).toEqual(['explorer 6'])
    expect(view.summary?.bestEval).toMatchObject({ step: 6, metric: 'bench/held/reward/mean@1' })
  })

  it('passes damaged weights over with a note, and refuses to go on without any', async () => {
    await bench.run({ name, 'trainer.save_interval': 2, 'explorer.eval_interval': 0 })
    const weights = bench.job(name, 'global_step_6', 'actor', 'huggingface')
    const file = join(weights, readdirSync(weights)[0])
    const bytes = readFileSync(file)
    bytes[bytes.length - 2] ^= 1
    writeFileSync(file, bytes)
    const view = new Recorder()
    await bench.run({ name, mode: 'bench' }, { view })
    expect(view.steps).toEqual(['explorer 0', 'explorer 2', 'explorer 4'])
    expect(view.notes.join()).toContain(`${weights} is not evaluated, because it is damaged`)
    const latest = bench.run({ name, mode: 'bench', 'explorer.bench_on_latest_checkpoint': true })
    await expect(latest).rejects.toMatchObject({ code: 'checkpoint/damaged' })
  })

  it('needs something to evaluate', async () => {
    const keys = { name, mode: 'bench', 'buffer.explorer_input.eval_tasksets': [] }
    await expect(bench.run(keys)).rejects.toMatchObject({ code: 'config/nothing-to-do' })
  })
})

function withoutClocks(rows: Record<string, number>[]): Record<string, number>[] {
  const clock = /time|perf\/|per_second|lag_ms|timing|sampled_tokens|prefix_cache/
  return rows.map((row) => Object.fromEntries(Object.entries(row).filter(([key]) => !clock.test(key))))
}
