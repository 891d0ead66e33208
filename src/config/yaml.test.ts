import { describe, expect, it } from 'vitest'
import { errorsOf } from '../../test/config-kit.js'
import { at, plain } from './node.js'
import { parseYaml } from './yaml.js'

const read = (text: string) => plain(parseYaml(text, 'f.yaml'))
const first = (text: string) => errorsOf(() => parseYaml(text, 'f.yaml'))[0]

describe('YAML', () => {
  it('keeps the place of keys and values', () => {
    const tree = parseYaml('a:\n  b: 1\n  "c": [x,\n    y]\n', 'f.yaml')
    expect(at(tree, 'a.b')?.mark).toEqual({ file: 'f.yaml', line: 2, column: 6 })
    expect(at(tree, 'a.c.1')?.mark).toEqual({ file: 'f.yaml', line: 4, column: 5 })
    expect(tree.entries.get('a')?.mark.column).toBe(1)
  })

  it('follows anchors and merges', () => {
    expect(read('x: &x {a: 1, b: 2}\ny: {<<: *x, b: 3}\nz: *x')).toEqual({
      x: { a: 1, b: 2 },
      y: { a: 1, b: 3 },
      z: { a: 1, b: 2 },
    })
    expect(read('x: &x {a: 1}\nw: &w {a: 2, c: 3}\ny: {<<: [*x, *w]}')).toMatchObject({ y: { a: 1, c: 3 } })
    expect(read('"<<": {a: 1}')).toEqual({ '<<': { a: 1 } })
  })

  it('reads quoted texts as texts and tags as told', () => {
    expect(read('a: "5"\nb: \'yes\'\nc: !!str 5\nd: !!int "5"\ne: |\n  17\n  18\nf: >-\n  a\n  b')).toEqual({
      a: '5',
      b: 'yes',
      c: '5',
      d: 5,
      e: '17\n18\n',
      f: 'a b',
    })
  })

  it('takes keys that are not words', () =>
    expect(read('1: a\ntrue: b\n1.5: c')).toEqual({ 1: 'a', true: 'b', '1.5': 'c' }))

  it('skips a byte order mark and comments', () => expect(read('\uFEFF# c\na: 1 # d\n')).toEqual({ a: 1 }))

  it('takes Windows line ends', () => {
    expect(at(parseYaml('a: 1\r\nb:\r\n  c: x\r\n', 'f.yaml'), 'b.c')).toMatchObject({
      value: 'x',
      mark: { line: 3, column: 6 },
    })
  })

  it.each([
    [
      'a: 1\nb: 2\na: 3',
      { code: 'duplicate-key', key: 'a', mark: { line: 3, column: 1 }, message: 'given twice, first at line 1' },
    ],
    [
      'a: !!python/object:os.system x',
      { message: 'unknown tag !!python/object:os.system', mark: { line: 1, column: 30 } },
    ],
    ['a: !mine x', { message: 'unknown tag !mine' }],
    ['a: !!int x', { message: "'x' is not what its tag !!int says" }],
    ['', { code: 'empty', mark: { line: 1, column: 1 } }],
    ['# only a comment\n', { code: 'empty' }],
    ['- a\n- b', { message: 'expected a map of keys at the top level, found a list' }],
    ['just words', { message: 'expected a map of keys at the top level, found a single value' }],
    ['a: 1\n---\nb: 2', { message: 'a second document begins here' }],
    ['a:\n\tb: 1', { hint: 'indent with spaces', mark: { line: 2 } }],
    ['a: b: c', { mark: { line: 1 } }],
    ['a: [1, 2', { mark: { line: 1 } }],
    ['a: *nowhere', { message: 'no anchor &nowhere before this *nowhere' }],
    ['a: &a {b: *a}', { message: 'anchor &a contains itself' }],
    ['? [a, b]\n: 1', { message: 'a key must be a word' }],
    ['a: {<<: 5}', { key: '<<', message: 'only a map, or a list of maps, can be merged' }],
  ])('%j', (text, problem) => expect(first(text)).toMatchObject(problem))

  it('reports several problems at once', () => {
    expect(errorsOf(() => parseYaml('a: 1\na: 2\nb: !x 1\nb: 3', 'f.yaml'))).toHaveLength(3)
  })

  it('stops anchors that multiply', () => {
    const lines = ['a0: &a0 [1,1,1,1,1,1,1,1,1,1]']
    for (let i = 1; i < 10; i++)
      lines.push(
        `a${i}: &a${i} [${Array(10)
          .fill(`*a${i - 1}`)
          .join(',')}]`,
      )
    expect(errorsOf(() => parseYaml(lines.join('\n'), 'f.yaml'))).toMatchObject([
      { message: expect.stringMatching(/too large/), hint: expect.stringMatching(/100000 values/) },
    ])
    // each use of an anchor costs a walk through the document: few values may be many uses
    const uses = (n: number) => `a: &a 1\nb: [${Array(n).fill('*a').join(',')}]`
    expect(parseYaml(uses(1000), 'f.yaml').entries.size).toBe(2)
    expect(errorsOf(() => parseYaml(uses(1001), 'f.yaml'))).toMatchObject([
      { hint: expect.stringMatching(/1000 times/) },
    ])
  })

  it.each([300, 20_000])('stops %d levels of nesting', (depth) =>
    expect(first(`a: ${'['.repeat(depth)}${']'.repeat(depth)}`)).toMatchObject({
      message: expect.stringMatching(/too large/),
      hint: expect.stringMatching(/200 levels/),
    }),
  )
})
