import { readFileSync } from 'node:fs'
import { expect } from 'vitest'

/**
 * Property tests draw the same cases every time, so that a change is judged by what it changed.
 * `PROPERTY_SEED=7 npm test` draws others, `PROPERTY_SEED=random` some that nobody has seen.
 */
const { PROPERTY_SEED: seed = '1' } = process.env
const { testPath } = expect.getState()
if (seed !== 'random' && testPath && readFileSync(testPath, 'utf8').includes('fast-check')) {
  const { configureGlobal } = await import('fast-check')
  configureGlobal({ seed: Number(seed) })
}
