import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { TrinityError } from '../base/error.js'
import { parseOptions } from './options.js'

const schema = z.strictObject({
  max_numbers: z.int().positive().default(4),
  from: z.string().default(''),
  sizes: z.array(z.number()).default([]),
  names: z.array(z.string()).default([]),
  fast: z.boolean().default(false),
})
const parse = (...words: string[]) => parseOptions('trinity data x', schema, words)

describe('parseOptions', () => {
  it('reads values as their arguments want them', () => {
    expect(parse()).toEqual({ max_numbers: 4, from: '', sizes: [], names: [], fast: false })
    expect(parse('--max-numbers', '3', '--from', '12', '--sizes', '3,4', '--names=a,b', '--fast')).toEqual({
      max_numbers: 3,
      from: '12',
      sizes: [3, 4],
      names: ['a', 'b'],
      fast: true,
    })
    expect(parse('--fast', 'false', '--max_numbers=7', '--sizes', '[1]')).toMatchObject({
      fast: false,
      max_numbers: 7,
      sizes: [1],
    })
  })

  it('names the option, and the nearest one', () => {
    const thrown = (...words: string[]) => {
      try {
        return parse(...words)
      } catch (error) {
        return error
      }
    }
    expect(thrown('--max-number', '3')).toMatchObject({
      code: 'args/invalid',
      message: 'trinity data x: --max-number: unknown argument',
      hint: 'did you mean --max-numbers?',
    })
    for (const name of ['constructor', '__proto__']) expect(thrown(`--${name}=1`)).toBeInstanceOf(TrinityError)
    expect(thrown('--form', 'x')).toMatchObject({ hint: 'did you mean --from?' })
    expect(thrown('--sizes', '3,four')).toMatchObject({
      message: expect.stringMatching(/--sizes\.1: .*expected number/),
    })
    expect(thrown('--max-numbers', '-3')).toMatchObject({ path: '--max-numbers', message: expect.stringMatching(/>0/) })
    expect(thrown('--max-numbers', 'many')).toMatchObject({ message: expect.stringMatching(/expected number/i) })
    expect(thrown('alone')).toMatchObject({ code: 'cli/usage', hint: expect.stringContaining('--max-numbers') })
  })

  it('never fails raw', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            fc.string(),
            fc.constantFrom('--sizes', '--from', '--fast=', '--__proto__', '--constructor', '--toString='),
          ),
        ),
        (words) => {
          try {
            parse(...words)
          } catch (error) {
            expect(error).toBeInstanceOf(TrinityError)
          }
        },
      ),
    )
  })
})
