import { describe, expect, it } from 'vitest'
import { dialects } from '../dialect/dialects.js'
import { fuzz } from './fuzz.fixture.js'

describe.each(dialects.map((dialect) => [dialect.name, dialect] as const))('%s over HTTP', (_, dialect) => {
  it('answers or refuses whatever comes, and records what it answered', async () => {
    const seen = await fuzz(dialect, 150, 16)
    expect(seen.get(200)).toBeGreaterThan(5)
    expect(seen.get(400)).toBeGreaterThan(20)
  })
})
