import { describe, expect, it } from 'vitest'
import { errorsOf, parse } from '../../test/config-kit.js'
import { at, plain } from './node.js'
import { plainScalar } from './scalar.js'

describe('plain scalars', () => {
  it.each([
    ['yes', true],
    ['No', false],
    ['ON', true],
    ['off', false],
    ['true', true],
    ['False', false],
    ['y', 'y'],
    ['n', 'n'],
    ['null', null],
    ['~', null],
    ['', null],
    ['017', 15],
    ['08', '08'],
    ['0x1F', 31],
    ['0b101', 5],
    ['0o17', '0o17'],
    ['1_000', 1000],
    ['-12', -12],
    ['+3', 3],
    ['12:30', 750],
    ['-1:30', -90],
    ['12:30:01', 45001],
    ['12:60', '12:60'],
    ['1:30.5', 90.5],
    ['1e-6', 1e-6],
    ['1E5', 1e5],
    ['.5', 0.5],
    ['5.', 5],
    ['-1.5e3', -1500],
    ['1.0', 1],
    ['.inf', Number.POSITIVE_INFINITY],
    ['-.inf', Number.NEGATIVE_INFINITY],
    ['.nan', Number.NaN],
    ['2024-01-02', '2024-01-02'],
    ['1.2.3', '1.2.3'],
    ['-', '-'],
    ['+', '+'],
  ])('%s', (text, value) => expect(plainScalar(text).value).toEqual(value))
})

/** Value of a key of each type after loading, or 'error'. */
const KEYS = {
  int: 'buffer.batch_size',
  float: 'algorithm.optimizer.lr',
  bool: 'explorer.eval_on_startup',
  str: 'name',
  'int?': 'buffer.total_steps',
  enum: 'synchronizer.sync_method',
  list: 'data_processor.experience_pipeline.operators',
  dict: 'explorer.env_vars',
  record: 'log',
}
function load(kind: keyof typeof KEYS, text: string): unknown {
  const key = KEYS[kind]
  const keys = key.split('.')
  const file = `${keys
    .slice(0, -1)
    .map((one) => `{${one}: `)
    .join('')}{${keys.at(-1)}: ${text}}${'}'.repeat(keys.length - 1)}`
  try {
    const value = parse(file).stages[0].config as unknown
    return keys.reduce<unknown>((node, one) => (node as Record<string, unknown>)[one], value)
  } catch {
    expect(errorsOf(() => parse(file))).toMatchObject([{ key, mark: { file: 'f.yaml', line: 1 } }])
    return 'error'
  }
}

describe('conversions', () => {
  it.each([
    ['int', '5', 5],
    ['int', '"5"', 5],
    ['int', '017', 15],
    ['int', '2.0', 'error'],
    ['int', '"1e2"', 'error'],
    ['int', '"0x10"', 'error'],
    ['int', 'true', 'error'],
    ['int', 'null', 'error'],
    ['int', '[1]', 'error'],
    ['int', '"x"', 'error'],
    ['float', '1', 1],
    ['float', '0.5', 0.5],
    ['float', '"0.5"', 0.5],
    ['float', '1e-6', 1e-6],
    ['float', '.inf', 'error'],
    ['float', '-.inf', 'error'],
    ['float', 'inf', 'error'],
    ['float', '1e400', 'error'],
    ['float', 'true', 'error'],
    ['float', 'abc', 'error'],
    ['float', 'null', 'error'],
    ['bool', 'no', false],
    ['bool', '0', false],
    ['bool', '7', true],
    ['bool', '"off"', false],
    ['bool', '"1"', true],
    ['bool', '"maybe"', 'error'],
    ['bool', '0.0', 'error'],
    ['bool', 'null', 'error'],
    ['str', '5', '5'],
    ['str', 'true', 'True'],
    ['str', 'off', 'False'],
    ['str', '1.0', '1.0'],
    ['str', '2024-01-02', '2024-01-02'],
    ['str', '[a]', 'error'],
    ['str', '{a: 1}', 'error'],
    ['str', 'null', 'error'],
    ['int?', 'null', null],
    ['int?', '~', null],
    ['int?', '3', 3],
    ['int?', '3.5', 'error'],
    ['enum', 'NCCL', 'nccl'],
    ['enum', 'Offline', 'checkpoint'],
    ['enum', 'SyncMethod.MEMORY', 'memory'],
    ['enum', 'teleport', 'error'],
    ['enum', 'null', 'error'],
    ['list', '[]', []],
    ['list', '{}', 'error'],
    ['list', 'null', 'error'],
    ['dict', '{A: 1, B: [x]}', { A: 1, B: ['x'] }],
    ['dict', '[]', 'error'],
    ['dict', 'null', 'error'],
    ['record', '{}', { level: 'INFO', group_by_node: false, save_dir: '' }],
    ['record', 'null', 'error'],
    ['record', '[]', 'error'],
  ] as const)('%s: %s', (kind, text, value) => expect(load(kind, text)).toEqual(value))

  it('says what was found and what is allowed', () => {
    const [problem] = errorsOf(() => parse('synchronizer:\n  sync_style: fixd\n'))
    expect(problem).toMatchObject({
      key: 'synchronizer.sync_style',
      mark: { line: 2, column: 15 },
      hint: 'did you mean fixed?',
    })
    expect(problem.message).toBe("expected one of fixed, trainer_driven, explorer_driven, fully_async, found 'fixd'")
  })

  it.each([
    '9007199254740993',
    '-12345678901234567890',
    '0x20000000000001',
    '0400000000000000001',
    `1${'0'.repeat(400)}`,
  ])('an integer that would become another one is refused where no type is declared: %s', (text) => {
    const tasksets = `{tasksets: [{workflow_args: {a: {k: [1, ${text}]}}}]}`
    expect(errorsOf(() => parse(`buffer: {explorer_input: ${tasksets}}`))).toMatchObject([
      {
        code: 'value',
        key: 'buffer.explorer_input.tasksets[0].workflow_args.a.k[1]',
        message: 'this integer has more digits than a number holds',
        hint: expect.stringContaining('quotes'),
      },
    ])
    expect(errorsOf(() => parse(`trainer: {trainer_config: {mine: ${text}}}`))).toHaveLength(1)
    expect(load('dict', `{A: "${text}"}`)).toEqual({ A: text })
  })

  it.each([
    ['9007199254740992', 2 ** 53],
    ['1000000000000000019884624838656', 1e30],
    ['0x7fffffffffffe000', 0x7fffffffffffe000],
    ['12:30', 750],
  ])('one that a number holds is none: %s', (text, value) => {
    expect(load('dict', `{A: ${text}}`)).toEqual({ A: value })
  })

  it('says that infinity is none', () => {
    const [problem] = errorsOf(() => parse('algorithm: {optimizer: {lr: 1e400}}'))
    expect(problem).toMatchObject({ code: 'value', message: 'expected a finite number, found 1e400' })
  })

  it('explains an empty section', () => {
    const [problem] = errorsOf(() => parse('algorithm:\nmode: both\n'))
    expect(problem).toMatchObject({
      key: 'algorithm',
      mark: { line: 1 },
      hint: 'an empty section is written {}, or left out',
    })
  })

  it('checks ranges', () => {
    expect(errorsOf(() => parse('buffer: {batch_size: 0}'))[0].message).toBe('expected an integer, at least 1, found 0')
  })

  it('keeps a key named __proto__ an ordinary key', () => {
    const { config, tree } = parse('explorer: {env_vars: {__proto__: {polluted: 1}}}').stages[0]
    expect(Object.keys(config.explorer.env_vars)).toEqual(['__proto__'])
    expect(Object.keys(plain(at(tree, 'explorer.env_vars') as never) as object)).toEqual(['__proto__'])
    expect(({} as { polluted?: number }).polluted).toBeUndefined()
  })
})
