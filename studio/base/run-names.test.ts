import { expect, it } from 'vitest'
import type { RunSummary } from '../../src/studio/api.js'
import { runs } from './live.js'
import { runName } from './run-names.js'

const run = (id: string, name: string, path: string): RunSummary => ({
  ...{ id, name, path, state: 'running', roles: [], changed: 0, tags: [], problems: [] },
  progress: { step: 0, role: 'trainer' },
})

it('a run has one name everywhere, with its folder where another is called the same', () => {
  const [one, two, other] = [run('1', 'p/a', '/x/p/a'), run('2', 'p/a', '/y/p/a'), run('3', 'p/b', '/x/p/b')]
  expect(runName(one)).toBe('p/a')
  runs.value = [one, other]
  expect(runName(one)).toBe('p/a')
  runs.value = [one, two, other]
  expect([one, two, other].map(runName)).toEqual(['p/a (x)', 'p/a (y)', 'p/b'])
  runs.value = undefined
})
