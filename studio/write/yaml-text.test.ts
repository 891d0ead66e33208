import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { at, keyOf, treeOf, type Value, without, withValue } from './yaml-text.js'

const TEXT = `# my run
mode: both   # as usual
algorithm:
  # compared with each other
  repeat_times: 8 # answers
  optimizer: {lr: 1e-6}
buffer:
  explorer_input:
    eval_tasksets:
      - name: a
        path: /data  # here
`

describe('a value is changed in its place', () => {
  it('and nothing else is', () => {
    expect(withValue(TEXT, ['algorithm', 'repeat_times'], '16')).toBe(TEXT.replace('8 #', '16 #'))
    const path = ['buffer', 'explorer_input', 'eval_tasksets', 0, 'path']
    expect(withValue(TEXT, path, '/other')).toBe(TEXT.replace('/data ', '/other '))
    expect(withValue(TEXT, ['algorithm', 'optimizer', 'lr'], '2e-4')).toBe(TEXT.replace('1e-6', '2e-4'))
  })

  it('a new one gets a line at the end of its section', () => {
    expect(withValue(TEXT, ['algorithm', 'algorithm_type'], 'grpo')).toBe(
      TEXT.replace('{lr: 1e-6}\n', '{lr: 1e-6}\n  algorithm_type: grpo\n'),
    )
    expect(withValue(TEXT, ['model', 'model_path'], 'a')).toBe(`${TEXT}model:\n  model_path: a\n`)
    expect(withValue('', ['model', 'model_path'], 'a')).toBe('model:\n  model_path: a\n')
  })

  it('into sections that are empty, or have one line', () => {
    expect(withValue('a:\nb: 1 # x\n', ['a', 'c'], '2')).toBe('a:\n  c: 2\nb: 1 # x\n')
    expect(withValue('a: {}\n', ['a', 'c', 'd'], '2')).toBe('a:\n  c:\n    d: 2\n')
    expect(withValue('# y\na: {b: 1} # x\n', ['a', 'c'], '2')).toBe('# y\na: {b: 1, c: 2} # x\n')
  })

  it('lists grow by what is put behind them', () => {
    const next = withValue(TEXT, ['buffer', 'explorer_input', 'eval_tasksets', 1], { name: 'b' })
    expect(at(treeOf(next), ['buffer', 'explorer_input', 'eval_tasksets'])).toEqual([
      { name: 'a', path: '/data' },
      { name: 'b' },
    ])
    expect(next).toContain('# here')
    expect(withValue('', ['a', 0], { name: 'x' })).toBe('a:\n  - name: x\n')
  })

  it('texts that mean something to YAML are quoted', () => {
    for (const text of ['', 'a: b', '# no', 'a\nb', '[1', '"x', '- y', ' z', '${oc.env:X,y}']) {
      const next = withValue('a: 1\n', ['a'], text)
      expect(at(treeOf(next), ['a']), next).toBe(text)
    }
    expect(withValue('a: 1\n', ['a'], '${oc.env:X,y}')).toBe('a: ${oc.env:X,y}\n')
  })
})

describe('a value is taken away', () => {
  it('with its line, and with what is empty then', () => {
    expect(without(TEXT, ['algorithm', 'repeat_times'])).toBe(TEXT.replace('  repeat_times: 8 # answers\n', ''))
    expect(without(TEXT, ['buffer', 'explorer_input', 'eval_tasksets', 0, 'path'])).toBe(
      TEXT.replace('        path: /data  # here\n', ''),
    )
    expect(without('a:\n  b:\n    c: 1\nd: 2\n', ['a', 'b', 'c'])).toBe('d: 2\n')
    expect(without(TEXT, ['nothing'])).toBe(TEXT)
  })
})

it('keys are as the checker names them', () => {
  expect(keyOf(['buffer', 'tasksets', 0, 'path'])).toBe('buffer.tasksets[0].path')
})

it('what is no YAML is left alone', () => {
  expect(treeOf('a: [')).toBeUndefined()
  expect(treeOf('- a')).toBeUndefined()
  expect(withValue('a: [', ['a'], '1')).toBe('a: [')
})

it('any value can be set and taken away again, and all others and all comments stay', () => {
  const key = fc.constantFrom('a', 'b', 'mode', 'path')
  const word = fc.oneof(fc.string(), fc.constantFrom('1', 'true', 'null', '2e-4', 'yes'))
  const paths = [['mode'], ['algorithm', 'optimizer', 'lr'], ['buffer', 'explorer_input', 'eval_tasksets', 0, 'path']]
  const path = fc.oneof(fc.constantFrom(...paths), fc.array(key, { minLength: 1, maxLength: 3 }))
  fc.assert(
    fc.property(fc.array(fc.tuple(path, word), { maxLength: 6 }), (edits) => {
      let text = TEXT
      for (const [where, value] of edits) {
        const parent = at(treeOf(text), where.slice(0, -1))
        // a single value cannot hold others; the form never asks for that
        if (typeof parent === 'string' || typeof at(treeOf(text), where) === 'object') continue
        text = withValue(text, where, value as Value)
        expect(at(treeOf(text), where)).toBe(value)
        expect(text).toContain('# my run')
        expect(text).toContain('# compared with each other')
      }
    }),
    { numRuns: 40 },
  )
})

it('anchors that multiply are no values: the check says why', () => {
  const lines = ['a0: &a0 [1, 1]', ...Array.from({ length: 30 }, (_, i) => `a${i + 1}: &a${i + 1} [*a${i}, *a${i}]`)]
  expect(treeOf(lines.join('\n'))).toBeUndefined()
  expect(treeOf('a: &a {b: c}\nd: *a')).toEqual({ a: { b: 'c' }, d: { b: 'c' } })
})
