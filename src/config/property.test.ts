import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BASE, parse, resolveAll } from '../../test/config-kit.js'
import { TrinityError } from '../base/error.js'
import { interpolate } from './interpolate.js'
import { type MapNode, nodeOf } from './node.js'
import { Problems } from './problem.js'
import { config } from './section/config.js'
import { decode, TemplateError } from './template.js'

/** Ends in success or in our own error, never in anything else. */
function tame(run: () => unknown): void {
  try {
    run()
  } catch (error) {
    expect(error).toBeInstanceOf(TrinityError)
    expect((error as TrinityError).message).not.toBe('')
  }
}

const bits = fc.constantFrom(
  '${',
  '}',
  ':',
  ',',
  'oc.env',
  'oc.decode',
  'oc.select',
  'name',
  '.',
  '..',
  '[0]',
  '\\',
  "'",
  '"',
  '{',
  '[',
  ']',
  ' ',
  'a',
  '1',
  '\n',
  '- ',
  '? ',
  '|',
  '>',
  '&x',
  '*x',
  '!!',
  '<<: ',
  '#',
  '%',
  '---',
  '\t',
  'null',
  '~',
  '\u0000',
  '\ud800',
)
const soup = fc.array(bits, { maxLength: 30 }).map((parts) => parts.join(''))

describe('no text is too strange', () => {
  it('for the loader', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary', maxLength: 60 }), fc.string({ maxLength: 60 }), soup), (text) =>
        tame(() => resolveAll(text)),
      ),
      { numRuns: 600 },
    )
  })

  it('as the value of a key', () => {
    const keys = Object.keys(config.fields)
    fc.assert(
      fc.property(fc.constantFrom(...keys), soup, (key, text) => tame(() => resolveAll(`${key}: ${text}`))),
      { numRuns: 400 },
    )
  })

  it('for references', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.constantFrom('a', 'b', 'name'), fc.oneof(soup, fc.array(soup, { maxLength: 3 })), {
          maxKeys: 3,
        }),
        (data) => {
          const problems = new Problems()
          const mark = { file: 'f', line: 1, column: 1 }
          tame(() => interpolate(nodeOf(data, mark) as MapNode, { a: '1' }, problems))
        },
      ),
      { numRuns: 600 },
    )
  })

  it('for --set', () => {
    fc.assert(
      fc.property(soup, soup, (key, value) => tame(() => parse(BASE, { set: [`${key}=${value}`] }))),
      { numRuns: 500 },
    )
  })

  it('for oc.decode', () => {
    fc.assert(
      fc.property(soup, (text) => {
        try {
          decode(text)
        } catch (error) {
          expect(error).toBeInstanceOf(TemplateError)
        }
      }),
      { numRuns: 500 },
    )
  })
})

describe('no value is too strange', () => {
  /** Any JSON at any known place of the tree. */
  const paths = placesOf(config, '', 0)
  const value = fc.oneof(
    fc.jsonValue({ maxDepth: 2 }),
    soup,
    fc.integer(),
    fc.constantFrom(-1, 0, 1e300, '', 'sft', 'dpo', 'train', 'mix', 'native', 'vllm', 'fully_async', 'file'),
  )
  it('for the checks and the derived values', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.constantFrom(...paths), value), { minLength: 1, maxLength: 4 }), (changes) => {
        tame(() => resolveAll(BASE, { set: changes.map(([path, one]) => `${path}=${JSON.stringify(one)}`) }))
      }),
      { numRuns: 600 },
    )
  })
})

function placesOf(spec: typeof config | import('./field.js').RecordSpec, path: string, depth: number): string[] {
  if (depth > 4) return []
  return Object.entries(spec.fields).flatMap(([key, field]) => {
    const at = path === '' ? key : `${path}.${key}`
    return field.record ? [at, ...placesOf(field.record, at, depth + 1)] : [at]
  })
}
