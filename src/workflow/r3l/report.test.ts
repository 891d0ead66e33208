import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { report } from './report.fixture.js'
import { readReport, UNUSABLE } from './report.js'

describe('the report of a reflection', () => {
  it('is read from the first brace to the last', () => {
    const read = readReport(`Here it is:\n\`\`\`json\n${report({ retry_from_step: 2 })}\n\`\`\` Done.`, 3)
    expect(read).toMatchObject({ isPerfect: false, pivot: 2, report: { trajectory_outcome: 'failure' } })
    expect(readReport(`<think>{"a": }</think>${report({ retry_from_step: 1 })}`, 3)).toMatchObject({ pivot: 1 })
  })

  it('may speak of the end of the thinking, and is never taken from the thinking', () => {
    const told = report({ improvement_suggestion: 'Close it: </think> before {"a": 1}', retry_from_step: 1 })
    const usable = { isPerfect: false, pivot: 1 }
    expect(readReport(told, 3)).toMatchObject(usable)
    expect(readReport(`It is this: ${told}`, 3)).toMatchObject(usable)
    expect(readReport(`<think>so {so} </think> and </think>${told}`, 3)).toMatchObject(usable)
    const draft = report({ retry_from_step: 2 })
    expect(readReport(`${draft}</think>${told}`, 3)).toMatchObject(usable)
    expect(readReport(`<think>${draft}</think> I cannot say.`, 3)).toEqual({ unusable: 'no_json' })
  })

  it.each([
    [2, 2],
    ['2', 2],
    [' 1 ', 1],
    [2.0, 2],
    [0, 0],
    [3, undefined],
    [-1, undefined],
    [1.5, undefined],
    ['two', undefined],
    [true, undefined],
    [null, undefined],
    [[1], undefined],
  ])('names a step of the trajectory: %j', (given, pivot) => {
    const read = readReport(report({ retry_from_step: given }), 3)
    expect(read).toEqual(pivot === undefined ? { unusable: 'pivot' } : expect.objectContaining({ pivot }))
  })

  it('needs its first three fields, which may be empty, and advice unless all is well', () => {
    expect(readReport(report({ root_cause_analysis: null }), 3)).toMatchObject({ pivot: 0 })
    expect(readReport(report({ root_cause_analysis: undefined }), 3)).toEqual({ unusable: 'no_field' })
    expect(readReport(report({ improvement_suggestion: undefined }), 3)).toEqual({ unusable: 'no_advice' })
    const outcomes = ['success', 'success_but_inefficient', 'failure', 'SUCCESS', '', null]
    const read = outcomes.map((trajectory_outcome) => readReport(report({ trajectory_outcome }), 3))
    expect(read.map((one) => ('unusable' in one ? one.unusable : one.isPerfect))).toEqual([
      true,
      false,
      false,
      'outcome',
      'outcome',
      'outcome',
    ])
  })

  it('is usable or has a reason, whatever is written', () => {
    const text = fc.oneof(
      fc.string(),
      fc.json(),
      fc.record({ retry_from_step: fc.jsonValue(), trajectory_outcome: fc.jsonValue() }).map(report),
    )
    fc.assert(
      fc.property(text, fc.integer({ min: 1, max: 30 }), (said, steps) => {
        const read = readReport(said, steps)
        if ('unusable' in read) expect(UNUSABLE).toContain(read.unusable)
        else if (!read.isPerfect) {
          expect(Number.isInteger(read.pivot)).toBe(true)
          expect(read.pivot).toBeGreaterThanOrEqual(0)
          expect(read.pivot).toBeLessThan(steps)
        }
      }),
    )
  })
})
