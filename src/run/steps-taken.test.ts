import { expect, it } from 'vitest'
import { forward } from '../monitor/forward.js'
import { StepsTaken } from './steps-taken.js'

const nobody = { phase: () => {}, metrics: () => {}, note: () => {}, end: () => {}, close: () => {} }

it('counts the steps of the trainer, or of the explorer where nothing is trained', () => {
  const both = new StepsTaken('both')
  const explore = new StepsTaken('explore')
  expect(both).toMatchObject({ last: 0, count: 0 })
  for (const one of [both, explore]) {
    const view = one.watch(nobody)
    // an evaluation before the first step
    view.metrics('explorer', 0, {})
    for (const step of [8, 9]) view.metrics('trainer', step, {})
    view.metrics('explorer', 3, {})
    // the same step, evaluated
    view.metrics('explorer', 3, {})
  }
  expect([both.last, both.count]).toEqual([9, 2])
  expect([explore.last, explore.count]).toEqual([3, 1])
})

it('hands everything on', () => {
  const heard: unknown[] = []
  const hear =
    (name: string) =>
    (...args: unknown[]) =>
      void heard.push([name, ...args])
  const view = forward({
    expect: hear('expect'),
    phase: hear('phase'),
    metrics: hear('metrics'),
    examples: hear('examples'),
    note: hear('note'),
    end: hear('end'),
    close: hear('close'),
  })
  view.expect?.('trainer', 3)
  view.phase('trainer', 'p')
  view.metrics('trainer', 1, { a: 1 })
  view.examples?.('trainer', 1, [])
  view.note('n')
  view.end({ ok: true, steps: 1, seconds: 1 })
  view.close()
  expect(heard).toEqual([
    ['expect', 'trainer', 3],
    ['phase', 'trainer', 'p'],
    ['metrics', 'trainer', 1, { a: 1 }],
    ['examples', 'trainer', 1, []],
    ['note', 'n'],
    ['end', { ok: true, steps: 1, seconds: 1 }],
    ['close'],
  ])
})
