import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Experience } from '../../experience/index.js'
import { Advice } from './advice.js'
import { createView } from './create.js'
import { duration, figure, percent } from './number.js'
import { Progress } from './progress.js'
import { Screen } from './screen.fixture.js'

const YELLOW = '\x1b[33m'

const TRAINED = {
  'critic/score/mean': 0.43751,
  'actor/final_loss': -0.00123456,
  'actor/kl_loss': 0.00034,
  'actor/entropy': 1.2345,
  'actor/pg_clipfrac': 0.0123,
  'actor/grad_norm': 0.8123,
  'sample/model_version_drift/mean': 1,
  'perf/throughput': 12_345.6,
  'time/step': 2.14,
}

describe('plain lines', () => {
  const screen = () => {
    const stream = new Screen(1000)
    let time = 0
    const wait = (ms: number) => {
      time += ms
    }
    const view = createView({ stream, isTTY: false, isColored: false, now: () => time })
    return { stream, view, wait }
  }

  it('has one line per step and role with the essential numbers', () => {
    const { stream, view, wait } = screen()
    view.expect?.('trainer', 100)
    view.metrics('trainer', 1, TRAINED)
    wait(3000)
    view.metrics('trainer', 2, TRAINED)
    view.metrics('explorer', 2, { 'rollout/reward/mean': 0.5, 'explorer/tokens_per_second': 300 })
    view.metrics('trainer', 2, { 'time/save_checkpoint': 1 })
    view.close()
    const lines = stream.text.trimEnd().split('\n')
    expect(lines[0]).toBe(
      'trainer  step 1/100  reward 0.438  loss -0.00123  KL 0.00034  entropy 1.23  clipped 1.2 %  grad norm 0.812  ' +
        'staleness 1  tokens/s 12,346  2.1 s/step',
    )
    expect(lines[1]).toContain('4 min 54 s left')
    expect(lines.slice(2)).toEqual(['explorer step 2  reward 0.5  tokens/s 300'])
    // More steps than anybody expected: no total is better than a wrong one.
    view.metrics('trainer', 103, { 'critic/score/mean': 1 })
    expect(stream.text.trimEnd().split('\n').at(-1)).toMatch(/^trainer {2}step 103 {2}reward 1/)
    expect(stream.text).not.toContain('\x1b')
  })

  it('tells of evaluations with the first and the best', () => {
    const { stream, view } = screen()
    const evaluate = (step: number, score: number) =>
      view.metrics('explorer', step, { 'eval/set a/accuracy/mean@4': score, 'eval/set a/accuracy/best@4': 1 })
    evaluate(0, 0.125)
    evaluate(10, 0.5)
    evaluate(20, 0.25)
    expect(stream.text.trimEnd().split('\n')).toEqual([
      'eval     step 0  set a accuracy/mean@4 0.125',
      'eval     step 10  set a accuracy/mean@4 0.5  (first 0.125, best 0.5 at step 10)',
      'eval     step 20  set a accuracy/mean@4 0.25  (first 0.125, best 0.5 at step 10)',
    ])
  })

  it('prints evaluations with detailed statistics', () => {
    const { stream, view } = screen()
    view.metrics('explorer', 0, {
      'eval/a/accuracy/mean@2/mean': 0.5,
      'eval/a/accuracy/mean@2/max': 1,
      'eval/a/accuracy/std@2/mean': 0.25,
    })
    expect(stream.text.trimEnd()).toBe('eval     step 0  a accuracy/mean@2/mean 0.5')
  })

  it('prints how many rollouts of an evaluation have no answer', () => {
    const { stream, view } = screen()
    const counts = (set: string, failed: number, tooLong: number) => ({
      [`eval/${set}/finished_task_count`]: 24,
      [`eval/${set}/run_count`]: 48,
      [`eval/${set}/failed_run_count`]: failed,
      [`eval/${set}/too_long_task_count`]: tooLong,
      [`eval/${set}/score/mean@2`]: 0.25,
    })
    view.metrics('explorer', 3, { ...counts('a', 12, 5), ...counts('b', 0, 14), ...counts('c', 0, 0) })
    expect(stream.text.trimEnd().split('\n')).toEqual([
      'eval     step 3  a score/mean@2 0.25  12 of 48 rollouts failed, 5 of 24 prompts too long: counted as 0',
      'eval     step 3  b score/mean@2 0.25  14 of 24 prompts too long: counted as 0',
      'eval     step 3  c score/mean@2 0.25',
    ])
  })

  it('says a note once, phases of other parts now and then, and ends with a summary', () => {
    const { stream, view, wait } = screen()
    view.phase('model', 'downloading 1 %')
    view.phase('model', 'downloading 2 %')
    wait(6000)
    view.phase('model', 'downloading 50 %')
    view.phase('trainer', 'step 1: training')
    view.note('careful')
    view.note('careful')
    const metric = 'eval/a/accuracy'
    const checkpoint = '/job/global_step_20'
    view.end({
      ok: true,
      steps: 20,
      seconds: 75,
      firstEval: { step: 0, metric, score: 0.1 },
      bestEval: { step: 15, metric, score: 0.9 },
      checkpoint,
      next: ['trinity run -c x.yaml', 'trinity view'],
    })
    view.close()
    expect(stream.text.trimEnd().split('\n')).toEqual([
      'model    downloading 1 %',
      'model    downloading 50 %',
      'note     careful',
      'done     20 steps in 1 min 15 s',
      'eval     eval/a/accuracy: first 0.1 (step 0), best 0.9 (step 15)',
      'weights  /job/global_step_20',
      'next     trinity run -c x.yaml',
      '         trinity view',
    ])
  })

  it('puts what a command does below it where both do not fit into a line', () => {
    const command = `trinity run -c ${'x'.repeat(40)}.yaml`
    const lines = (columns: number) => {
      const stream = new Screen(columns)
      const view = createView({ stream, isTTY: false, isColored: false })
      view.end({ ok: true, steps: 2, seconds: 1, next: [`${command}   resumes from here`] })
      return stream.text.trimEnd().split('\n').slice(1)
    }
    expect(lines(120)).toEqual([`next     ${command}   resumes from here`])
    expect(lines(80)).toEqual([`next     ${command}`, '           resumes from here'])
  })

  it('counts a single step as one, and tells the steps of this run from those of earlier ones', () => {
    const { stream, view } = screen()
    view.end({ ok: true, steps: 1, seconds: 2 })
    view.end({ ok: true, steps: 7, now: 7, seconds: 2 })
    view.end({ ok: true, steps: 7, now: 2, seconds: 2 })
    view.end({ ok: true, stopped: true, steps: 7, now: 0, seconds: 2 })
    view.end({ ok: true, isOld: true, steps: 1, seconds: 2 })
    expect(stream.text.trimEnd().split('\n')).toEqual([
      'done     1 step in 2 s',
      'done     7 steps in 2 s',
      'done     7 steps, 2 of them now, in 2 s',
      'stopped  7 steps, none of them now, in 2 s',
      'done     nothing to do: this run already finished after 1 step',
    ])
  })

  it('says that nothing was done, where a run ended before its first step', () => {
    const { stream, view } = screen()
    view.end({ ok: false, steps: 0, seconds: 2 })
    view.end({ ok: true, stopped: true, steps: 0, seconds: 2 })
    expect(stream.text).toBe('failed   before a step was done, after 2 s\nstopped  before a step was done, after 2 s\n')
  })

  it('shows answers and where the time goes now and then', () => {
    const { stream, view, wait } = screen()
    const said = { reward: 0.5, promptText: 'how\nmany?', responseText: 'two\x07', messages: undefined }
    const tell = (step: number) => view.examples?.('trainer', step, [said] as unknown as Experience[])
    view.phase('trainer', 'step 1: training')
    wait(1000)
    tell(1)
    wait(59_000)
    tell(2)
    wait(1000)
    tell(3)
    expect(stream.text.trimEnd().split('\n')).toEqual([
      'answer   step 1  reward 0.5  how ⏎ many? → two␇',
      'time     trainer: training 100 %',
      'answer   step 3  reward 0.5  how ⏎ many? → two␇',
      'time     trainer: training 100 %',
    ])
  })

  it('goes on when nobody reads any more', () => {
    const view = createView({
      stream: {
        write: () => {
          throw new Error('EPIPE')
        },
      },
      isTTY: false,
    })
    expect(() => view.note('x')).not.toThrow()
    expect(() => view.metrics('trainer', 1, TRAINED)).not.toThrow()
  })
})

describe('live view', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  it('redraws a few lines and leaves notes, evaluations and the summary above', () => {
    const stream = new Screen()
    const view = createView({ stream, isTTY: true, isColored: false, title: 'p/n' })
    view.expect?.('trainer', 10)
    view.phase('model', 'opening')
    vi.advanceTimersByTime(1000)
    expect(stream.lines()).toContain('model     opening · 1 s')
    for (let step = 1; step <= 5; step++) {
      view.phase('explorer', `step ${step + 1}: 8 tasks`)
      view.phase('trainer', `step ${step}: training`)
      view.metrics('explorer', step, { 'rollout/reward/mean': step / 10, 'explorer/tokens_per_second': 300 })
      view.metrics('trainer', step, TRAINED)
      vi.advanceTimersByTime(4000)
    }
    view.note('look here')
    view.metrics('explorer', 5, { 'eval/a/accuracy/mean@1': 0.75 })
    vi.advanceTimersByTime(1000)
    const lines = stream.lines()
    expect(lines.join('\n')).not.toContain('opening')
    expect(lines.filter((line) => line.startsWith('note'))).toHaveLength(1)
    expect(lines[0]).toBe('note     look here')
    expect(lines[1]).toBe('eval     step 5  a accuracy/mean@1 0.75')
    expect(lines[2]).toBe('─'.repeat(79))
    expect(lines[3]).toBe(`p/n        ${'━'.repeat(19)}${'─'.repeat(19)} 50 % · 22 s · about 20 s left`)
    expect(lines.slice(4)).toEqual([
      'explorer  step 5  step 6: 8 tasks · 5 s  4 s/step',
      'trainer   step 5/10  step 5: training · 5 s  loss -0.00123  KL 0.00034',
      // what does not fit into a line is in the next one
      '          clipped 1.2 %  grad norm 0.812  staleness 1  tokens/s 12,346',
      '          4 s/step',
      'reward 0.5                   0.1 … 0.5   a 0.75                  best 0.75 at 5',
      '                   ▁▁▂▂▂▃▃▄▄▄▅▅▆▆▆▇▇██',
      '▁▁▂▂▃▃▃▄▄▅▅▅▆▆▇▇▇█████████████████████',
      'entropy 1.23                             tokens/s 300',
      '',
      `${'▁'.repeat(38)}   ${'▁'.repeat(38)}`,
      'time      explorer   rollouts 100 %',
      '          trainer    training 100 %',
    ])
    view.end({ ok: false, steps: 5, seconds: 20 })
    view.close()
    const last = stream.lines()
    expect(last.some((line) => line.startsWith('explorer'))).toBe(false)
    expect(last.join('\n')).toContain('failed   5 steps in 20 s')
    expect(vi.getTimerCount()).toBe(0)
  })

  it('keeps its place when the terminal is resized, breaks hints at words, and shows what models say harmlessly', () => {
    const stream = new Screen(120, 30)
    const view = createView({ stream, isTTY: true, isColored: false, title: 'p/n' })
    view.metrics('explorer', 1, { 'rollout/reward/mean': 0.5 })
    const evil = { reward: 0, messages: [{ role: 'user', content: '何?' }], responseText: '\x1b[2J\x1b[Hgone\nend' }
    view.examples?.('explorer', 1, [evil, { ...evil, reward: 1 }] as unknown as Experience[])
    vi.advanceTimersByTime(1000)
    expect(stream.lines().find((line) => line.startsWith('best'))).toBe(
      `best      1  何?${' '.repeat(58 - 16)}   worst     0  何?`,
    )
    expect(stream.lines()).toContain(`          ␛[2J␛[Hgone ⏎ end${' '.repeat(58 - 27)}             ␛[2J␛[Hgone ⏎ end`)
    stream.resize(60, 20)
    view.note('a long line with words that has to be broken where it does not fit into the terminal any more')
    vi.advanceTimersByTime(1000)
    expect(stream.lines().slice(0, 4)).toEqual([
      'note     a long line with words that has to be broken where',
      '         it does not fit into the terminal any more',
      '─'.repeat(59),
      'p/n        2 s',
    ])
    expect(stream.lines().filter((line) => line.startsWith('p/n'))).toHaveLength(1)
    view.close()
    expect(stream.listeners).toBe(0)
  })

  it('uses colors unless told not to', () => {
    const shown = (env: Record<string, string>) => {
      for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value)
      const stream = new Screen()
      createView({ stream, isTTY: true }).note('x')
      vi.unstubAllEnvs()
      return stream.text
    }
    expect(shown({ NO_COLOR: '', FORCE_COLOR: '' })).toContain(YELLOW)
    expect(shown({ NO_COLOR: '1', FORCE_COLOR: '' })).not.toContain(YELLOW)
  })
})

describe('Advice', () => {
  const said = (...steps: Record<string, number>[]) => {
    const advice = new Advice()
    return steps.flatMap((metrics) => advice.take(metrics))
  }
  const equal = (share: number) => ({ 'experience_pipeline/group_advantages/reward_std/zero_ratio': share })

  it('speaks of equal rewards after two steps, and again when it gets much worse', () => {
    expect(said(equal(0.61))).toEqual([])
    expect(said(equal(0.61), equal(0.2), equal(0.61))).toEqual([])
    const [first, second, ...rest] = said(equal(0.6), equal(0.61), equal(0.7), equal(0.9), equal(1))
    expect(first).toContain('all rewards are equal in 61 % of the groups: these give no gradient')
    expect(second).toContain('90 %')
    expect(rest).toEqual([])
  })

  it('explains a loss near 0 for group-relative algorithms only', () => {
    const trained = { 'actor/pg_loss': 0.001, 'actor/grad_norm': 0.5 }
    expect(said(trained)).toEqual([])
    expect(said(equal(0), { ...trained, 'actor/grad_norm': 0 })).toEqual([])
    const [text, ...rest] = said(equal(0), trained, trained)
    expect(text).toContain('loss near 0 is normal for GRPO')
    expect(rest).toEqual([])
  })

  it.each([
    ['a dropped gradient', [{ 'actor/refused_updates': 1 }, { 'actor/refused_updates': 1 }], 'not finite'],
    ['a gradient norm that is not a number', [{ 'actor/grad_norm': Number.NaN }], 'not finite'],
    [
      'entropy that collapses',
      [1.2, 1.1, 1.2, 0.5, 0.04, 0.03, 0.01].map((entropy) => ({ 'actor/entropy': entropy })),
      'entropy fell from 1.2 to 0.03',
    ],
    ['a mismatch', Array(2).fill({ 'mismatch/logprob_diff/mean': 0.2 }), 'differ by 0.2'],
    [
      'sequences that are left out',
      Array(3).fill({ 'sample/skipped/empty_mask': 18, 'sample/experience_count': 128 }),
      '14 % of the sequences are left out',
    ],
    ['answers that are cut', Array(3).fill({ 'response_length/clip_ratio': 0.98 }), '98 % of the answers were cut'],
    [
      'missing rewards',
      [{ 'experience_pipeline/missing_reward_count': 3 }],
      '3 experiences of this step have no reward',
    ],
    [
      'failed runs',
      [{ 'rollout/failed_run_count': 2, 'rollout/failed/timeout': 2 }],
      '2 rollouts of this step failed (timeout 2)',
    ],
    ['a late event loop', Array(2).fill({ 'explorer/event_loop_lag_ms/p99': 1500 }), 'late by 1.5 s'],
  ])('speaks once of %s', (_, steps: Record<string, number>[], text) => {
    expect(said(...steps)).toEqual([expect.stringContaining(text)])
  })

  it('is silent about a healthy run', () => {
    const healthy = {
      ...TRAINED,
      ...equal(0.2),
      'actor/pg_loss': 0.3,
      'mismatch/logprob_diff/mean': 0.01,
      'response_length/clip_ratio': 0.1,
      'rollout/failed_run_count': 0,
      'explorer/event_loop_lag_ms/p99': 20,
    }
    expect(said(...Array(10).fill(healthy))).toEqual([])
  })
})

describe('numbers', () => {
  it.each([
    [0, '0'],
    [1234.5, '1,235'],
    [0.000012, '1.2e-5'],
    [-0.12345, '-0.123'],
    [7, '7'],
    [1.5e12, '1.5e12'],
    [Number.NaN, 'NaN'],
  ])('%d → %s', (value, text) => {
    expect(figure(value)).toBe(text)
  })
  it.each([
    [0.4, '0.4 s'],
    [59.4, '59 s'],
    [61, '1 min 1 s'],
    [599.7, '10 min'],
    [600, '10 min'],
    [3600, '1 h 00 min'],
    [90_000, '25 h 00 min'],
    [864_000, '10 days'],
  ])('%d s → %s', (seconds, text) => {
    expect(duration(seconds)).toBe(text)
  })
  it.each([
    [0.615, '62 %'],
    [0.0123, '1.2 %'],
    [0, '0 %'],
  ])('%d → %s', (share, text) => {
    expect(percent(share)).toBe(text)
  })
})

describe('Progress', () => {
  it('measures over the last steps, and anew after a step back', () => {
    const progress = new Progress()
    progress.total = 100
    expect(progress.left).toBeUndefined()
    for (let step = 1; step <= 50; step++) progress.reach(step, step <= 25 ? step * 9000 : 225_000 + (step - 25) * 1000)
    expect(progress.secondsPerStep).toBe(1)
    expect(progress.left).toBe(50)
    progress.reach(3, 300_000)
    expect(progress.left).toBeUndefined()
  })
})
