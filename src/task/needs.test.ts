import { describe, expect, it } from 'vitest'
import { checkNeeds } from './needs.js'
import type { Task } from './task.js'

const check = (raw: Record<string, unknown>, format: Task['format'], needs = { prompt: false, truth: false }) =>
  checkNeeds({ raw, format, workflow: 'w' } as unknown as Task, () => needs)
const column = expect.objectContaining({ code: 'task/column' })

describe('columns that a task needs', () => {
  it('must be there for a workflow that reads them', () => {
    const both = { prompt: true, truth: true }
    expect(() => check({ prompt: 'p', response: 'r' }, {}, both)).not.toThrow()
    expect(() => check({ question: 'p', response: 'r' }, {}, both)).toThrowError(column)
    expect(() => check({ prompt: 'p', response: null }, {}, both)).toThrowError(column)
  })

  it('must be there for any workflow where somebody has named them', () => {
    expect(() => check({ q: 'p', a: 'r' }, { prompt_key: 'q', response_key: 'a' })).not.toThrow()
    expect(() => check({ q: 'p', a: 'r' }, { prompt_key: 'question' })).toThrowError(column)
    expect(() => check({ q: 'p', a: 'r' }, { response_key: 'answer' })).toThrowError(column)
  })

  it('are not asked for where nobody reads or names them, and may be empty where nobody reads them', () => {
    expect(() => check({ seed: 1 }, {})).not.toThrow()
    expect(() => check({ q: null }, { prompt_key: 'q' })).not.toThrow()
  })
})
