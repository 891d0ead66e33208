import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { withKeys } from '../../test/config-kit.js'
import { openBuffer } from '../buffer/index.js'
import { ExperienceView } from '../buffer/sql/view.js'
import { createExperience } from '../experience/create.js'
import { advantageStep, openPipeline } from './pipeline.js'

const grpo = { 'algorithm.algorithm_type': 'grpo', 'algorithm.repeat_times': 2 }
const experience = (run: number, reward: number) =>
  createExperience({ eid: { batch: 3, task: 0, run, step: 0, suffix: '' }, tokens: [1, 2, 3], promptLength: 1, reward })

describe('advantages before the buffer', () => {
  it('are those of the function where it belongs to the explorer', async () => {
    const step = advantageStep(withKeys(grpo))
    const given = [experience(0, 0), experience(1, 1)]
    const found = (await step!(given)).experiences.map((one) => one.advantages?.[0] ?? 0)
    expect(found[0]).toBeLessThan(0)
    expect(found[1]).toBeCloseTo(-found[0], 6)
  })

  it('are left to the trainer where they need its values, and to nobody where there are none', () => {
    expect(advantageStep(withKeys({ 'algorithm.algorithm_type': 'ppo' }))).toBeUndefined()
    expect(
      advantageStep({ ...withKeys({}), algorithm: { ...withKeys({}).algorithm, advantage_fn: null } }),
    ).toBeUndefined()
  })
})

describe('raw experiences', () => {
  const dir = mkdtempSync(join(tmpdir(), 'trinity-pipeline-'))
  afterAll(() => rmSync(dir, { recursive: true, force: true }))

  it('lie in the table that tools of the original look for', async () => {
    const config = withKeys({}, { cwd: dir })
    const output = await openBuffer({ name: 'b', storage_type: 'queue' })
    const pipeline = await openPipeline(config, output, [])
    await pipeline.close()
    await output.close()
    const view = await ExperienceView.open(config.data_processor.experience_pipeline.input_save_path as string)
    expect(await view.tables()).toEqual(['pipeline_input'])
    await view.close()
  })
})
