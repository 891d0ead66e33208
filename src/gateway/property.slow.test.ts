import { expect, it } from 'vitest'
import { dialects } from '../dialect/dialects.js'
import { fuzz } from './fuzz.fixture.js'

it.each(dialects.map((dialect) => [dialect.name, dialect] as const))(
  '%s: 10,000 requests of all kinds',
  async (name, dialect) => {
    const seen = await fuzz(dialect, 10_000, Date.now() % 1_000_000)
    console.log(name, Object.fromEntries(seen))
    expect([...seen.values()].reduce((sum, count) => sum + count, 0)).toBe(10_000)
  },
  1_200_000,
)
