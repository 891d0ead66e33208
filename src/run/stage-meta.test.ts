import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import type { ResolvedStage } from '../config/index.js'
import { StageMeta } from './stage-meta.js'

const dir = mkdtempSync(join(tmpdir(), 'trinity-stages-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

it('says how far the stages are, in the folder above theirs', async () => {
  const stage = (name: string) =>
    ({
      name,
      config: { project: 'p', group: '', name: `n/${name}`, checkpoint_job_dir: join(dir, 'job', name) },
    }) as unknown as ResolvedStage
  const meta = new StageMeta([stage('warmup'), stage('rl')])
  const read = () => JSON.parse(readFileSync(join(dir, 'job', 'stage_meta.json'), 'utf8'))
  await meta.begin(0)
  expect(read()).toEqual({ job: 'p/n', latest_stage: 0, stages: ['warmup', 'rl'], finished: [] })
  await meta.finished(0)
  await meta.begin(1)
  expect(read()).toEqual({ job: 'p/n', latest_stage: 1, stages: ['warmup', 'rl'], finished: ['warmup'] })
  await meta.finished(1)
  expect(read().finished).toEqual(['warmup', 'rl'])
})
