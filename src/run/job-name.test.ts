import { expect, it } from 'vitest'
import { withKeys } from '../../test/config-kit.js'
import { jobName } from './job-name.js'

it('is project, group and name, without what is empty', () => {
  expect(jobName(withKeys({ project: 'p', group: 'g', name: 'n' }))).toBe('p/g/n')
  expect(jobName(withKeys({ project: 'p', name: 'n' }))).toBe('p/n')
})
