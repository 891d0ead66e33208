import { expect, it } from 'vitest'
import type { RunSummary } from '../../src/studio/api.js'
import { merged } from './live.js'

const run = (id: string, step = 0): RunSummary => ({
  ...{ id, name: id, path: `/${id}`, state: 'running', roles: [], changed: 0, tags: [], problems: [] },
  progress: { step, role: 'trainer' },
})

it('changed runs keep their places, new ones come first', () => {
  const after = merged([run('a'), run('b')], [run('b', 7), run('c')])
  expect(after.map(({ id, progress }) => [id, progress.step])).toEqual([
    ['c', 0],
    ['a', 0],
    ['b', 7],
  ])
})
