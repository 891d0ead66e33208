import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import type { PerfReport } from '../../src/perf/report.js'
import { tempDir } from '../support/temp-dir.js'
import { trinity } from './cli-kit.js'

const config = fileURLToPath(new URL('../../examples/quickstart/quickstart.yaml', import.meta.url))

describe('trinity perf run', () => {
  it('measures rollouts, or rollouts and training, and says how fast they were', async () => {
    const dir = await tempDir()
    const options = ['perf', 'run', '-c', config, '--monitor-interval', '0.2', '--total-steps', '2']
    const keys = ['--set', `checkpoint_root_dir=${dir}`, '--set', 'explorer.eval_on_startup=false']
    for (const module of ['explorer', 'both']) {
      const { code, stdout, stderr } = await trinity(dir, [...options, ...keys, '-m', module])
      expect(code, stderr).toBe(0)
      expect(stdout).toContain('2 steps were measured')
      const report = JSON.parse(readFileSync(join(dir, 'perf', 'output.json'), 'utf8')) as PerfReport
      expect(report.run_meta).toMatchObject({ module, config_path: config, explorer_name: 'explorer' })
      expect(report.status).toMatchObject({ success: true, error: null, tensorboard_metrics_available: true })
      expect(report.step_metrics.map(({ step }) => step)).toEqual([1, 2])
      expect('actor/loss' in report.step_metrics[0]).toBe(module === 'both')
      expect(report.artifacts.checkpoint_job_dir).toContain('countdown_perf')
      const { timing } = report
      expect(timing.response_tokens_per_second).toBeGreaterThan(1)
      expect(timing.total_time_sec).toBeCloseTo(timing.startup_time_sec + timing.execution_time_sec)
      expect(report.resource_timeline.length).toBeGreaterThan(1)
    }
  }, 120_000)

  it('a measurement that fails has a report, and an exit code that says so', async () => {
    const dir = await tempDir()
    const late = ['--timeout', '0.01', '--set', `checkpoint_root_dir=${dir}`, '-o', 'late.json']
    const { code, stdout } = await trinity(dir, ['perf', 'run', '-c', config, ...late])
    expect(code).toBe(1)
    expect(stdout).toContain('the run failed: the measurement took longer than 0.01 s')
    const { status } = JSON.parse(readFileSync(join(dir, 'late.json'), 'utf8')) as PerfReport
    expect(status).toMatchObject({ success: false, error: expect.stringContaining('--total-steps') })
  }, 60_000)
})
