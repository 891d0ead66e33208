import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BASE, catalog, parse, resolve, withKeys } from '../../test/config-kit.js'
import { defaultsOf } from './field.js'
import { interpolate } from './interpolate.js'
import { plain } from './node.js'
import { printConfig } from './print.js'
import { Problems } from './problem.js'
import { config } from './section/config.js'
import { parseYaml } from './yaml.js'

const again = (text: string) => plain(interpolate(parseYaml(text, 'p.yaml'), {}, new Problems()))

describe('printConfig', () => {
  it('a parsed configuration reads back as itself', () => {
    const parsed = parse(`${BASE}algorithm: {algorithm_type: gspo}`).stages[0].config
    expect(parse(printConfig(parsed)).stages[0].config).toEqual(parsed)
  })

  it('a resolved configuration reads back and resolves to itself', () => {
    for (const type of catalog.algorithms.names()) {
      if (catalog.algorithms.find(type)?.schema !== 'experience') continue
      const resolved = withKeys({
        'algorithm.algorithm_type': type,
        'cluster.gpu_per_node': 8,
        'model.lora_configs': [{ path: 'a' }],
      })
      expect(resolve(printConfig(resolved))).toEqual(resolved)
      expect(printConfig(resolve(printConfig(resolved)))).toBe(printConfig(resolved))
    }
  })

  it('endless numbers stay', () => {
    const value = { a: Number.POSITIVE_INFINITY, b: [Number.NEGATIVE_INFINITY], c: 1e300, d: 5e-324, e: -0.1 }
    expect(again(printConfig(value))).toEqual(value)
  })

  it('the defaults read back as the defaults', () => {
    expect(parse(printConfig(defaultsOf(config))).stages[0].config).toEqual(defaultsOf(config))
  })

  it.each([
    'yes',
    '017',
    '12:30',
    '~',
    '',
    '1e-6',
    '- a',
    'a: b',
    '# c',
    '${name}',
    '\\${x}',
    '<<',
    '.inf',
    ' x ',
    'a\nb\n',
    "it's",
    '"',
    '\t',
    '\u00e9\u4e2d',
    'null',
    '0x1F',
    '*a',
    '&a',
    '!t',
  ])('the text %j stays', (text) =>
    expect(again(printConfig({ key: text, [text || 'k']: 1, list: [text] }))).toEqual({
      key: text,
      [text || 'k']: 1,
      list: [text],
    }),
  )

  it('any plain data stays', () => {
    const leaf = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 12 }),
      fc.string({ maxLength: 12 }),
      fc.integer(),
      fc.double({ noNaN: true }),
      fc.boolean(),
      fc.constant(null),
    )
    const { data } = fc.letrec((tie) => ({
      data: fc.oneof(
        { depthSize: 'small' },
        leaf,
        fc.array(tie('data'), { maxLength: 3 }),
        fc.dictionary(fc.string({ maxLength: 6 }), tie('data'), { maxKeys: 3 }),
      ),
    }))
    fc.assert(
      fc.property(data, (value) => {
        const tidy = JSON.parse(JSON.stringify({ value }), (_, item) => (Object.is(item, -0) ? 0 : item))
        expect(again(printConfig(tidy))).toEqual(tidy)
      }),
      { numRuns: 300 },
    )
  })
})
