import { describe, expect, it } from 'vitest'
import { differences } from './differences.js'

describe('what differs from the defaults', () => {
  it('is named with its default and its line of documentation, in order of the schema', () => {
    const taskset = { name: 'x', path: 'data', split: 'train' }
    const found = differences({
      buffer: { batch_size: 7, explorer_input: { tasksets: [taskset] } },
      mode: 'train',
      project: 'Trinity-RFT',
      checkpoint_job_dir: '/filled/in/by/the/program',
    })
    expect(found.map(({ key }) => key)).toEqual(
      expect.arrayContaining(['mode', 'buffer.batch_size', 'buffer.explorer_input.tasksets[0].path']),
    )
    expect(found.map(({ key }) => key)).not.toContain('project')
    expect(found.map(({ key }) => key)).not.toContain('checkpoint_job_dir')
    expect(found[0]).toMatchObject({ key: 'mode', value: 'train', default: 'both' })
    expect(found[0].doc).toMatch(/\.$/)
  })

  it('of nothing is nothing', () => {
    expect(differences({})).toEqual([])
    expect(differences(null)).toEqual([])
  })
})
