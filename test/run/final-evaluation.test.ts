import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { ModelSpec } from '../../src/engine/contract.js'
import { MockEngine } from '../../src/engine/mock/engine.js'
import { Stop } from '../../src/run/index.js'
import { workflows } from '../../src/workflow/index.js'
import { BASE, Bench, Recorder } from './kit.js'

/** Long enough for an evaluation on the mock engine to end meanwhile. */
const SAVE_MS = 400

let bench: Bench
let count = 0
let name = ''

/** Holds back evaluations of one version of the weights until the trainer is done. */
const gate = { version: -1, trainerDone: Promise.resolve(), open: () => {} }
workflows.add('gated_count', async ({ task, model }) => {
  if (task.isEval && model.version === gate.version) await gate.trainerDone
  const experiences = await model.generate(String(task.raw.q), {})
  for (const one of experiences) one.reward = [...(one.responseText ?? '')].filter((c) => c === task.raw.a).length / 8
  return experiences
})

class SlowSaves extends MockEngine {
  override async openTrain(spec: ModelSpec, call: Parameters<MockEngine['openTrain']>[1]) {
    const model = await super.openTrain(spec, call)
    const save = model.save.bind(model)
    model.save = async (dir, ...rest) => {
      await sleep(SAVE_MS)
      await save(dir, ...rest)
    }
    return model
  }
}

class EvalRecorder extends Recorder {
  readonly evaluations: { step: number; version: number; metrics: Record<string, number> }[] = []

  override metrics(role: string, step: number, metrics: Readonly<Record<string, number>> = {}): void {
    super.metrics(role, step)
    if (!('time/eval' in metrics)) return
    const kept = Object.entries(metrics).filter(([key]) => !key.includes('time/'))
    this.evaluations.push({ step, version: metrics['rollout/model_version'], metrics: Object.fromEntries(kept) })
  }
  get numbers(): [number, number][] {
    return this.evaluations.map(({ step, version }) => [step, version])
  }
}

beforeAll(async () => {
  bench = await Bench.make()
})
beforeEach(() => {
  name = `job${++count}`
})
afterAll(() => bench.remove())

const TEXT = BASE.replaceAll('count_workflow', 'gated_count')
const MODEL = { vocabSize: 24, eos: 1, maxModelLen: 64 }

/** The run in which the evaluation of the last weights is faster than the end of the trainer, and the reverse. */
async function race(keys: Record<string, unknown>, last: number) {
  const results: EvalRecorder[] = []
  for (const isTrainerSlow of [true, false]) {
    name = `job${++count}`
    gate.version = isTrainerSlow ? -1 : last
    gate.trainerDone = new Promise((resolve) => {
      gate.open = resolve
    })
    const view = new EvalRecorder()
    view.onPhase = (role, what) => {
      if (role === 'trainer' && what === 'done') gate.open()
    }
    const openEngine = async () => (isTrainerSlow ? new SlowSaves(MODEL) : new MockEngine(MODEL))
    const { steps } = await bench.run({ name, ...keys }, { view, openEngine, text: TEXT })
    expect(steps).toBe(last)
    results.push(view)
  }
  return results
}

describe('the evaluation of the final weights', () => {
  it.each([
    [
      'the last step has an evaluation',
      {},
      6,
      [
        [0, 0],
        [3, 3],
        [6, 6],
      ],
    ],
    [
      'the last step has none',
      { 'explorer.eval_interval': 4 },
      6,
      [
        [0, 0],
        [4, 4],
        [6, 6],
      ],
    ],
    [
      'weights move every second step',
      { 'synchronizer.sync_interval': 2 },
      6,
      [
        [0, 0],
        [2, 2],
        [4, 4],
        [6, 6],
      ],
    ],
    [
      'rollouts are a step ahead',
      { 'synchronizer.sync_offset': 1 },
      6,
      [
        [0, 0],
        [3, 2],
        [6, 6],
      ],
    ],
    [
      'the trainer ends the explorer',
      { 'trainer.total_steps': 3 },
      3,
      [
        [0, 0],
        [3, 3],
      ],
    ],
    [
      'the trainer ends an explorer that is ahead',
      { 'trainer.total_steps': 4, 'synchronizer.sync_offset': 2, 'explorer.eval_interval': 1 },
      4,
      [
        [0, 0],
        [1, 0],
        [2, 0],
        [3, 1],
        [4, 4],
      ],
    ],
    [
      'there is none at the start',
      { 'explorer.eval_on_startup': false },
      6,
      [
        [3, 3],
        [6, 6],
      ],
    ],
    [
      'the budget of tokens ends the run',
      { 'buffer.total_tokens': 1, 'explorer.eval_interval': 1 },
      1,
      [
        [0, 0],
        [1, 1],
      ],
    ],
  ] as const)('has the number of the last step whichever side is slower: %s', async (_, keys, last, expected) => {
    const [slowTrainer, slowEvaluation] = await race(keys, last)
    expect(slowTrainer.numbers).toEqual(expected)
    expect(slowEvaluation.numbers).toEqual(expected)
    expect(slowEvaluation.evaluations).toEqual(slowTrainer.evaluations)
  })

  it.each(['trainer_driven', 'explorer_driven'])('has the number of the last step with %s', async (style) => {
    const keys = { 'synchronizer.sync_style': style, 'trainer.total_steps': 3, 'explorer.eval_interval': 1 }
    for (const { numbers } of await race(keys, 3)) {
      expect(numbers.at(-1)).toEqual([3, 3])
      expect(numbers.filter(([, version]) => version === 3)).toHaveLength(1)
    }
  })

  it('is made once by a run that was killed before it, with the same result', async () => {
    const whole = new EvalRecorder()
    await bench.run({ name }, { view: whole, text: TEXT })
    const expected = bench.metrics('explorer', name).at(-1)!
    name = `job${++count}`
    const stop = new Stop()
    const view = new EvalRecorder()
    view.onPhase = (_, what) => {
      if (what === 'final evaluation') stop.force()
    }
    await expect(bench.run({ name }, { stop, view, text: TEXT })).rejects.toThrow('immediately')
    expect(view.numbers.at(-1)).toEqual([3, 3])
    const again = new EvalRecorder()
    await bench.run({ name }, { view: again, text: TEXT })
    expect(again.evaluations).toEqual(whole.evaluations.slice(-1))
    const row = bench.metrics('explorer', name).at(-1)!
    expect(row['eval/held/reward/mean@1']).toBe(expected['eval/held/reward/mean@1'])
    expect(row.step).toBe(6)
  })

  it.each([
    ['fixed', {}],
    ['fixed', { 'synchronizer.sync_offset': 1 }],
    ['fixed', { 'synchronizer.sync_interval': 4 }],
    ['trainer_driven', {}],
    ['explorer_driven', { 'trainer.total_steps': 3 }],
  ])('is made once where explorer and trainer are two processes: %s, %j', async (style, more) => {
    const keys = {
      name,
      'buffer.trainer_input.experience_buffer': { storage_type: 'sql' },
      'synchronizer.sync_style': style,
      'synchronizer.sync_timeout': 20,
      ...more,
    }
    const view = new EvalRecorder()
    const openEngine = async () => new SlowSaves(MODEL)
    const [, trainer] = await Promise.all([
      bench.run({ ...keys, mode: 'explore' }, { view, text: TEXT }),
      bench.run({ ...keys, mode: 'train', 'buffer.train_batch_size': 4 }, { openEngine, text: TEXT }),
    ])
    expect(view.numbers.at(-1)).toEqual([trainer.steps, trainer.steps])
    expect(view.numbers.filter(([, version]) => version === trainer.steps)).toHaveLength(1)
  })
})
