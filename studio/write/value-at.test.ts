import { expect, it } from 'vitest'
import type { ConfigProblem, Form } from '../../src/studio/api.js'
import { choicesFor, fieldAt, foundFields, problemsAt, problemsBelow, resolvedAt, words } from './value-at.js'

const form: Form = {
  records: {
    Config: {
      doc: '',
      fields: [
        { key: 'mode', kind: 'enum', doc: 'What runs.', values: ['both', 'train'] },
        { key: 'buffer', kind: 'record', doc: 'Data.', record: 'Buffer' },
      ],
    },
    Buffer: {
      doc: '',
      fields: [
        { key: 'batch_size', kind: 'int', doc: 'Tasks of a step.' },
        { key: 'size_of_batch', kind: 'int', doc: 'Old.', choices: 'sizes', values: ['own', 'small'] },
      ],
    },
  },
  common: [],
  choices: { sizes: [{ name: 'small', doc: 'not large' }] },
  plugins: [],
}

it('keys are found by name and by what they are for, names first', () => {
  expect(foundFields(form, 'batch').map(({ path }) => path.join('.'))).toEqual([
    'buffer.batch_size',
    'buffer.size_of_batch',
  ])
  expect(foundFields(form, 'tasks size').map(({ path }) => path.join('.'))).toEqual(['buffer.batch_size'])
  expect(foundFields(form, 'train').map(({ path }) => path.join('.'))).toEqual(['mode'])
  expect(fieldAt(form, 'buffer.batch_size')?.field.kind).toBe('int')
  expect(fieldAt(form, 'buffer.nothing')).toBeUndefined()
})

it('drop-downs have what is registered, then the words of the schema, each once', () => {
  expect(choicesFor(form, form.records.Buffer.fields[1]).map(({ name }) => name)).toEqual(['small', 'own'])
})

it('a single task set is resolved as the only one of the list', () => {
  const values = { buffer: { explorer_input: { taskset: null, tasksets: [{ split: 'train' }] } } }
  expect(resolvedAt(values, ['buffer', 'explorer_input', 'taskset', 'split'])).toBe('train')
  expect(resolvedAt(values, ['buffer', 'nothing'])).toBeUndefined()
})

it('problems are told at their key, and counted around it', () => {
  const problems = ['a.b', 'a.b[0].c', 'a.bc'].map((key) => ({ key }) as ConfigProblem)
  expect(problemsAt(problems, ['a', 'b']).map(({ key }) => key)).toEqual(['a.b'])
  expect(problemsBelow(problems, ['a', 'b']).map(({ key }) => key)).toEqual(['a.b', 'a.b[0].c'])
})

it('values read as one writes them', () => {
  expect([words([1, 2]), words({ a: 1 }), words(true), words(null), words('x')]).toEqual([
    '1, 2',
    '{"a":1}',
    'true',
    '',
    'x',
  ])
})
