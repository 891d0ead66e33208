import { beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { loadCatalog } from '../../run/catalog.js'
import { workflows } from '../../workflow/registry.js'
import type { Form, FormField } from '../api.js'
import { argumentFields } from './arguments.js'
import { formOf } from './form.js'
import { BEGINNER, EXPERT } from './original-fields.fixture.js'
import { unitOf } from './unit.js'

let form: Form
beforeAll(async () => {
  form = formOf(await loadCatalog(), workflows, ['/plugins'])
})

const field = (record: string, key: string) => form.records[record]?.fields.find((one) => one.key === key)

describe('the form of a configuration', () => {
  it('has every key with its default, its unit and its values', () => {
    expect(field('BufferConfig', 'batch_size')).toMatchObject({ kind: 'int', default: 1, unit: 'tasks' })
    expect(field('SynchronizerConfig', 'sync_style')?.values).toContain('fixed')
    expect(field('TrainerConfig', 'trainer_config')).toMatchObject({ kind: 'record', record: 'TrainerBackend' })
    expect(field('ExplorerConfig', 'proxy_api_key')?.isSecret).toBe(true)
    // what the program fills in is nobody's to set
    expect(field('ClusterConfig', 'trainer_gpu_num')).toBeUndefined()
  })

  it('offers what is registered, with the arguments of each', () => {
    expect(field('TasksetConfig', 'workflow_args')?.argsOf).toBe('default_workflow_type')
    const ppo = form.choices.policyLossFns.find(({ name }) => name === 'ppo')
    expect(ppo?.doc).toBeTruthy()
    expect(ppo?.args?.find(({ key }) => key === 'clip_range')).toMatchObject({ kind: 'float', default: 0.2 })
    expect(form.choices.algorithms.find(({ name }) => name === 'dpo')?.schema).toBe('dpo')
    expect(form.choices.trainers.map(({ name }) => name)).toEqual(expect.arrayContaining(['auto', 'native']))
    expect(form.choices.workflows.find(({ name }) => name === 'simple_workflow')?.doc).toBeTruthy()
    const lists = Object.values(form.records).flatMap(({ fields }) => fields.flatMap(({ choices }) => choices ?? []))
    for (const list of lists) expect(form.choices[list]?.length, list).toBeGreaterThan(0)
  })

  it('says of every argument what it is', () => {
    const silent = Object.entries(form.choices).flatMap(([list, all]) =>
      all.flatMap(({ name, args = [] }) =>
        args.filter(({ doc }) => doc === '').map(({ key }) => `${list} ${name} ${key}`),
      ),
    )
    expect(silent).toEqual([])
  })

  it('has what comes first', () => {
    for (const key of form.common.flatMap(({ keys }) => keys)) expect(fieldAt(key), key).toBeDefined()
  })
})

describe("the original's manager", () => {
  it('has no field that is not reached here', () => {
    expect([...BEGINNER, ...EXPERT].filter((key) => fieldAt(key) === undefined)).toEqual([])
  })

  it('shows beginners nothing that does not come first here', () => {
    const first = form.common.flatMap(({ keys }) => keys)
    expect(BEGINNER.filter((key) => !first.includes(key))).toEqual([])
  })
})

/** The field that a dotted key leads to; `[]` is an entry of a list. */
function fieldAt(key: string): FormField | undefined {
  const parts = key.split('.')
  const record = parts.slice(0, -1).reduce((name, part) => {
    const found = field(name, part.replace('[]', ''))
    return (part.endsWith('[]') ? found?.item?.record : found?.record) ?? ''
  }, 'Config')
  return field(record, parts.at(-1) ?? '')
}

it('arguments may be open, lists, words or anything', () => {
  const args = z.strictObject({
    ratio: z.number().nullable().default(null).describe('Share of all.'),
    words: z.array(z.string()).default([]),
    how: z.enum(['a', 'b']).default('a'),
    more: z.record(z.string(), z.unknown()).default({}),
  })
  expect(argumentFields(args)).toMatchObject([
    { key: 'ratio', kind: 'float', unit: '0–1', default: null },
    { key: 'words', kind: 'list', item: { kind: 'str' } },
    { key: 'how', kind: 'enum', values: ['a', 'b'] },
    { key: 'more', kind: 'dict' },
  ])
  expect(argumentFields(undefined)).toBeUndefined()
})

it('the first words of a description name the unit', () => {
  expect(unitOf({ kind: 'int', doc: 'Seconds a rollout may take.' })).toBe('s')
  expect(unitOf({ kind: 'int', doc: 'Mode serve: seconds between two looks.' })).toBe('s')
  expect(unitOf({ kind: 'float', doc: 'Learning rate.' })).toBeUndefined()
  expect(unitOf({ kind: 'str', doc: 'Tokens.' })).toBeUndefined()
})
