import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createView } from '../../src/monitor/terminal/create.js'
import { Screen } from '../../src/monitor/terminal/screen.fixture.js'
import { type WorkflowContext, workflows } from '../../src/workflow/index.js'
import { MultiTurnWorkflow } from '../../src/workflow/multi-turn.js'
import { SimpleWorkflow } from '../../src/workflow/simple.js'
import { Workflow } from '../../src/workflow/workflow.js'
import { BASE, Bench, Recorder } from './kit.js'

let bench: Bench
let count = 0
let name = ''

class RightAnswer extends SimpleWorkflow {
  override ask() {
    return this.model.generate(String(this.task.raw.q))
  }
  override reward() {
    return { accuracy: 1 }
  }
}

class TwoTurns extends MultiTurnWorkflow {
  async play() {
    await this.model.generate(String(this.task.raw.q))
    return { reward: 1, info: { accuracy: 1 } }
  }
}

class OwnExperiences extends Workflow {
  async run() {
    const experiences = await this.model.generate(String(this.task.raw.q))
    return experiences.map((one) => ({ ...one, reward: 1, metrics: { score: 1 } }))
  }
}

/** Odd rows of evaluations fail; every other answer is right. */
async function failsHalf({ task, model }: WorkflowContext) {
  if (task.isEval && task.index.row % 2 === 1) throw new Error('no such luck')
  const [answer] = await model.generate(String(task.raw.q))
  return { ...answer, reward: 1, metrics: { accuracy: 1 } }
}

beforeAll(async () => {
  bench = await Bench.make()
  workflows.add('eval_test_right', RightAnswer)
  workflows.add('eval_test_turns', TwoTurns)
  workflows.add('eval_test_own', OwnExperiences)
  workflows.add('eval_test_fails', failsHalf)
  // 14 of 24 prompts have more tokens than max_prompt_tokens
  const rows = Array.from({ length: 24 }, (_, i) => ({ q: i < 14 ? '1+1='.repeat(8) : `${i}+${i}=`, a: '1' }))
  const lines = rows.map((row) => `${JSON.stringify(row)}\n`)
  writeFileSync(join(bench.dir, 'long.jsonl'), lines.join(''))
  writeFileSync(join(bench.dir, 'longer.jsonl'), lines.slice(0, 14).join(''))
})
beforeEach(() => {
  name = `job${++count}`
})
afterAll(() => bench.remove())

const evalSet = (workflow: string, file: string, more = {}) => [
  { name: 'held', path: join(bench.dir, file), default_workflow_type: workflow, format: { prompt_key: 'q' }, ...more },
]
const run = (keys: Record<string, unknown>, view?: Recorder) =>
  bench.run({ name, 'buffer.total_steps': 1, 'explorer.eval_interval': 1, ...keys }, { view, text: BASE })
const first = () => bench.metrics('explorer', name)[0]

describe('an evaluation with prompts that are too long', () => {
  it.each([
    ['eval_test_right', 'accuracy', true],
    ['eval_test_right', 'accuracy', false],
    ['eval_test_turns', 'accuracy', true],
    ['eval_test_own', 'score', true],
  ])('counts each as 0: %s, %s, cut %s', async (workflow, score, isCut) => {
    const { summary } = await run({
      'buffer.explorer_input.eval_tasksets': evalSet(workflow, 'long.jsonl', { repeat_times: 2 }),
      'explorer.rollout_model.enable_prompt_truncation': isCut,
    })
    expect(first()).toMatchObject({
      [`eval/held/${score}/mean@2`]: expect.closeTo(10 / 24, 12),
      [`eval/held/${score}/finished_mean`]: 1,
      'eval/held/finished_task_count': 24,
      'eval/held/run_count': 48,
      'eval/held/failed_run_count': 0,
      'eval/held/too_long_task_count': 14,
    })
    expect(summary.firstEval?.score).toBeCloseTo(10 / 24, 12)
  })

  it('is 0 when all are', async () => {
    const { summary } = await run({
      'buffer.explorer_input.eval_tasksets': evalSet('eval_test_right', 'longer.jsonl'),
    })
    expect(first()).toMatchObject({ 'eval/held/reward/mean@1': 0, 'eval/held/too_long_task_count': 14 })
    expect(summary.firstEval?.score).toBe(0)
  })
})

describe('an evaluation in which rollouts fail', () => {
  const keys = () => ({ 'buffer.explorer_input.eval_tasksets': evalSet('eval_test_fails', 'tasks.jsonl') })

  it('counts each as 0, shows them, and keeps the mean of the others apart', async () => {
    const screen = new Screen(1000)
    const shown = createView({ stream: screen, isTTY: false, isColored: false })
    const view = new Recorder()
    const forwarded = Object.assign(view, { metrics: shown.metrics.bind(shown) })
    const { summary } = await run(keys(), forwarded)
    expect(first()).toMatchObject({
      'eval/held/accuracy/mean@1': 0.5,
      'eval/held/accuracy/finished_mean': 1,
      'eval/held/reward/mean@1': 0.5,
      'eval/held/failed_run_count': 12,
      'eval/held/too_long_task_count': 0,
    })
    expect(summary.bestEval).toMatchObject({ metric: 'eval/held/accuracy/mean@1', score: 0.5 })
    expect(screen.text).toContain('held accuracy/mean@1 0.5  12 of 24 rollouts failed: counted as 0')
  })

  it('keeps the names of its metrics when some runs of a task fail', async () => {
    workflows.add('eval_test_fails_once', async (context) => {
      if (context.task.isEval && context.run === 1) throw new Error('no such luck')
      return failsHalf({ ...context, task: { ...context.task, isEval: false } })
    })
    await run({
      'buffer.explorer_input.eval_tasksets': evalSet('eval_test_fails_once', 'tasks.jsonl', { repeat_times: 3 }),
    })
    const names = Object.keys(first()).filter((key) => key.startsWith('eval/') && key.includes('mean@'))
    expect(names.filter((key) => !key.endsWith('mean@3'))).toEqual([])
    expect(first()['eval/held/accuracy/mean@3']).toBeCloseTo(2 / 3, 12)
  })

  it('is the same in mode bench', async () => {
    await run({ ...keys(), mode: 'bench' })
    const { results } = JSON.parse(readFileSync(bench.job(name, 'bench', 'results.json'), 'utf8'))
    expect(results[0].tasksets.held).toMatchObject({
      score: 0.5,
      metric: 'accuracy/mean@1',
      tasks: 24,
      failed_runs: 12,
      too_long_tasks: 0,
    })
  })

  it('keeps its best checkpoint and its lines with detailed statistics', async () => {
    const { summary, view } = await run({ ...keys(), 'monitor.detailed_stats': true })
    expect(summary.bestEval).toMatchObject({ metric: 'eval/held/accuracy/mean@1/mean', score: 0.5 })
    expect(view.notes.join()).not.toContain('no best evaluation')
  })
})
