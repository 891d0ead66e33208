import { expect, it } from 'vitest'
import { badVariables } from './variables.js'

it('names every variable whose value would be ignored, and what it may be', () => {
  const warnings = badVariables({
    TRINITY_LOG_LEVEL: 'loud',
    TRINITY_NATIVE_ISA: 'sse',
    TRINITY_NATIVE_THREADS: 'many',
    TRINITY_TORCH_GRACE: 'soon',
    TRINITY_HUB: 'here',
  })
  expect(warnings).toHaveLength(5)
  expect(warnings[0]).toBe("TRINITY_LOG_LEVEL is 'loud', which is no value: use one of DEBUG, INFO, WARNING, ERROR")
})

it('says nothing of good ones', () => {
  const good = { TRINITY_LOG_LEVEL: 'warn', TRINITY_NATIVE_ISA: 'avx2', TRINITY_NATIVE_THREADS: '4', TRINITY_HUB: 'MS' }
  expect(badVariables(good)).toEqual([])
  expect(badVariables({})).toEqual([])
})
