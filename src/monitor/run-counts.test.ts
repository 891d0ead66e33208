import { describe, expect, it } from 'vitest'
import type { OperatorReport } from '../pipeline/pipeline.js'
import {
  addExplorerStep,
  addTrainingStep,
  countLines,
  lossesOf,
  NO_ROLLOUTS,
  NO_TRAINING,
  sumEvaluations,
  sumExplorers,
} from './run-counts.js'

const step = (metrics: Record<string, number>, trained = 4) => ({ metrics, trained })
const applied = { 'actor/updates': 1, 'actor/lr': 0.1, 'actor/grad_norm': 0.5 }
const refused = { 'actor/updates': 0, 'actor/refused_updates': 1, 'actor/lr': 0.1 }

describe('addTrainingStep', () => {
  it('counts refused updates in a row by model, and starts over after an applied one', () => {
    const twice = addTrainingStep(
      addTrainingStep(NO_TRAINING, step(refused)),
      step({ ...refused, 'critic/updates': 1 }),
    )
    expect(twice).toMatchObject({ applied: 1, refused: 2, refusedInRow: { actor: 2, critic: 0 } })
    expect(addTrainingStep(twice, step(applied))).toMatchObject({ applied: 2, refusedInRow: { actor: 0 } })
  })

  it('counts an update as moving weights only with a gradient and a learning rate', () => {
    expect(addTrainingStep(NO_TRAINING, step(applied))).toMatchObject({ moved: 1, learns: true })
    const still = addTrainingStep(NO_TRAINING, step({ ...applied, 'actor/grad_norm': 0 }))
    expect(still).toMatchObject({ moved: 0, learns: true, applied: 1 })
    expect(addTrainingStep(NO_TRAINING, step({ ...applied, 'actor/lr': 0 }))).toMatchObject({ moved: 0, learns: false })
  })

  it('adds what the trainer left out, by reason', () => {
    const once = addTrainingStep(NO_TRAINING, step({ ...applied, 'sample/skipped/too_long': 2 }, 3))
    expect(addTrainingStep(once, step({ ...applied, 'sample/skipped/too_long': 1 }, 3))).toMatchObject({
      trained: 6,
      skipped: { 'too long': 3 },
    })
  })
})

describe('addExplorerStep', () => {
  it('counts experiences that an operator left out without a reason under its name', () => {
    const operators: OperatorReport[] = [
      { name: 'filter', in: 8, out: 5, dropped: { 'all wrong': 3 }, ms: 1 },
      { name: 'advantage', in: 5, out: 3, dropped: {}, ms: 1 },
    ]
    const counts = addExplorerStep(NO_ROLLOUTS, { rollouts: 9, failed: 1, made: 8 }, operators)
    expect(counts).toMatchObject({ rollouts: 9, failed: 1, made: 8, dropped: { 'filter: all wrong': 3, advantage: 2 } })
    expect(sumExplorers([counts, counts])).toMatchObject({ made: 16, dropped: { advantage: 4 } })
  })
})

describe('countLines and lossesOf', () => {
  const trainer = addTrainingStep(NO_TRAINING, step({ ...applied, 'sample/skipped/too_long': 2 }))
  const operators = [{ name: 'filter', in: 8, out: 6, dropped: { 'all wrong': 2 }, ms: 1 }]
  const explorer = addExplorerStep(NO_ROLLOUTS, { rollouts: 9, failed: 1, made: 8 }, operators)

  it('shows updates and experiences in two lines', () => {
    expect(countLines({ trainer, explorer }).map(({ label, text }) => `${label}: ${text}`)).toEqual([
      'updates: 1 applied, 0 refused; weights changed',
      'data: experiences: 8 made, 2 dropped (2 × filter: all wrong), 4 trained, 2 left out by the trainer (2 × too long); ' +
        '1 of 9 rollouts failed',
    ])
    expect(countLines({})).toEqual([])
  })

  it('shows what evaluations lack', () => {
    const evaluations = sumEvaluations([
      { runs: 24, failedRuns: 12, tooLongTasks: 0 },
      { runs: 24, failedRuns: 0, tooLongTasks: 14 },
    ])
    expect(countLines({ explorer: { ...NO_ROLLOUTS, evaluations } })).toEqual([
      { label: 'data', text: 'in all evaluations: 12 of 48 rollouts failed, 14 prompts were too long' },
    ])
  })

  it('names every loss as a reason', () => {
    expect(lossesOf({ trainer, explorer })).toEqual([
      '2 of 8 experiences were dropped (2 × filter: all wrong)',
      '1 of 9 rollouts failed',
      'the trainer left out 2 experiences (2 × too long)',
    ])
    expect(lossesOf({ trainer: NO_TRAINING, explorer: NO_ROLLOUTS })).toEqual([])
  })
})
