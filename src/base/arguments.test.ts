import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { parseArguments } from './arguments.js'
import { TrinityError } from './error.js'
import { Registry } from './registry.js'

const schema = z
  .strictObject({
    budget: z.number().int().min(1),
    ratio: z.number().default(0.5),
    nested: z.strictObject({ depth: z.number() }).optional(),
  })
  .refine(({ ratio, budget }) => ratio <= budget, { path: ['ratio'], message: 'Above the budget' })

function failure(given: unknown, of: z.ZodObject = schema): TrinityError {
  try {
    parseArguments("selector 'mine'", of, given, 'data_selector.kwargs')
  } catch (error) {
    if (error instanceof TrinityError) return error
  }
  throw new Error('nothing was refused')
}

describe('arguments of a component', () => {
  it('come with their defaults', () => {
    expect(parseArguments('x', schema, { budget: 2 }, 'args')).toEqual({ budget: 2, ratio: 0.5 })
    expect(parseArguments('x', z.strictObject({ a: z.number().default(1) }), null, 'args')).toEqual({ a: 1 })
  })

  it('name the nearest argument and point at the key', () => {
    expect(failure({ budget: 1, ratoi: 1 }).toJSON()).toEqual({
      code: 'args/invalid',
      message: "selector 'mine': ratoi: unknown argument",
      path: 'data_selector.kwargs.ratoi',
      hint: 'did you mean ratio?',
    })
    expect(failure({ budget: 1, color: 1 }).hint).toBe('known: budget, ratio, nested')
    expect(failure({ a: 1 }, z.strictObject({})).hint).toBe('it takes no arguments')
  })

  it('say all that is wrong in one error', () => {
    const { message, path, hint } = failure({ ratio: 'much', nested: { deep: 1, depth: 2 }, budgte: 3, radio: 4 })
    expect(message).toBe(
      "selector 'mine': budget: missing, expected number; ratio: invalid input: expected number, received string; " +
        'nested.deep: unknown argument; budgte: unknown argument; radio: unknown argument',
    )
    expect(path).toBe('data_selector.kwargs')
    expect(hint).toBe('did you mean budget?; did you mean ratio?')
  })

  it('keep the words of a rule, and refuse what is no list of arguments', () => {
    expect(failure({ budget: 1, ratio: 2 })).toMatchObject({
      message: "selector 'mine': ratio: above the budget",
      path: 'data_selector.kwargs.ratio',
    })
    expect(failure([1])).toMatchObject({
      message: "selector 'mine': invalid input: expected object, received array",
      path: 'data_selector.kwargs',
    })
  })

  it('are parsed by the name of their component', () => {
    const registry = new Registry('selector', { mine: { doc: 'mine', args: schema } })
    expect(registry.parse('mine', { budget: 3 }, 'kwargs')).toEqual({ budget: 3, ratio: 0.5 })
    expect(() => registry.parse('mine', { budget: 0 }, 'kwargs')).toThrowError(/^selector 'mine': budget: too small/)
    expect(() => registry.parse('mien', {}, 'kwargs')).toThrowError("unknown selector 'mien'")
  })
})
