import { describe, expect, it } from 'vitest'
import { goldenTraces } from '../../../test/alfworld/golden.js'
import { expectSame } from '../../../test/alfworld/trace.js'
import { HOUSES, rowOf } from './house.fixture.js'

const traces = goldenTraces()

describe('episodes of the real textworld', () => {
  it('are of every house, some to the end, and try most of what can be done', () => {
    expect(new Set(traces.map(({ id }) => id))).toEqual(new Set(HOUSES.map(({ name }) => name)))
    expect(traces.filter(({ steps }) => steps.at(-1)?.done).length).toBeGreaterThanOrEqual(HOUSES.length)
    const verbs = new Set(traces.flatMap(({ steps }) => steps.map(({ command }) => command.split(' ')[0])))
    const known = 'go look inventory help examine open close take move clean heat cool use slice'.split(' ')
    expect(known.filter((verb) => !verbs.has(verb))).toEqual([])
  })

  it.each(traces.map((trace) => [`${trace.id}, ${trace.steps.length} steps`, trace] as const))(
    'are ours, byte for byte: %s',
    async (_, trace) => {
      await expectSame(trace, rowOf(HOUSES.find(({ name }) => name === trace.id)!))
    },
  )
})
