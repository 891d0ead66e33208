import { afterAll, describe, expect, it } from 'vitest'
import { Example, PLUGINS } from './kit.js'

const example = new Example()
afterAll(() => example.close())
const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length

describe('offline', { timeout: 120_000 }, () => {
  it('sft.yaml: the answers become likelier', async () => {
    expect(await example.run('offline/sft.yaml', { 'buffer.total_steps': 20 })).toMatchObject({ code: 0, stderr: '' })
    const losses = example.series('offline/sft', 'trainer', 'actor/loss')
    expect(losses).toHaveLength(20)
    expect(mean(losses.slice(-5))).toBeLessThan(0.8 * mean(losses.slice(0, 2)))
  })

  it('dpo.yaml: the better answers win', async () => {
    expect(await example.run('offline/dpo.yaml', { 'buffer.total_steps': 20 })).toMatchObject({ code: 0, stderr: '' })
    const losses = example.series('offline/dpo', 'trainer', 'actor/loss')
    expect(losses[0]).toBeCloseTo(Math.LN2, 2)
    expect(mean(losses.slice(-5))).toBeLessThan(0.9 * losses[0])
  })
})

describe('plugins', { timeout: 120_000 }, () => {
  const short = { 'buffer.total_steps': 3, 'explorer.eval_interval': 0, 'explorer.eval_on_startup': false }

  it('custom_algorithm.yaml trains with the formula of the plugin', async () => {
    const ended = await example.run('plugins/custom_algorithm.yaml', short, ['--plugin-dir', PLUGINS])
    expect(ended).toMatchObject({ code: 0, stderr: '' })
    expect(example.series('quickstart/soft_grpo', 'trainer', 'actor/ratio')).toHaveLength(3)
  })

  it('custom_workflow.yaml lets the model try twice', async () => {
    const ended = await example.run('plugins/custom_workflow.yaml', short, ['--plugin-dir', PLUGINS])
    expect(ended).toMatchObject({ code: 0, stderr: '' })
    const tries = example.series('quickstart/second_chance', 'explorer', 'rollout/tries/mean')
    expect(tries).toHaveLength(3)
    for (const value of tries) expect(value).toBeGreaterThan(1)
  })
})

describe('environments', { timeout: 120_000 }, () => {
  it('custom_environment.yaml plays the world of the plugin', async () => {
    const short = { 'buffer.total_steps': 3, 'explorer.eval_interval': 0, 'explorer.eval_on_startup': false }
    const ended = await example.run('plugins/custom_environment.yaml', short, ['--plugin-dir', PLUGINS])
    expect(ended).toMatchObject({ code: 0 })
    const of = (name: string) => example.series('quickstart/guess_number', 'explorer', `rollout/${name}/mean`)
    expect(of('success')).toHaveLength(3)
    for (const steps of of('actual_env_steps')) expect(steps).toBeGreaterThan(1)
    expect(Math.max(...of('valid'))).toBeGreaterThan(0)
  })

  it('an environment that nobody knows is refused before anything runs', async () => {
    const set = { 'buffer.explorer_input.taskset.workflow_args.environment': 'gues_number' }
    const ended = await example.run('plugins/custom_environment.yaml', set, ['--plugin-dir', PLUGINS, '--dry-run'])
    expect(ended.code).not.toBe(0)
    expect(ended.stdout + ended.stderr).toMatch(/workflow_args\.environment: unknown environment 'gues_number'/)
    expect(ended.stdout + ended.stderr).toMatch(/did you mean '?guess_number/)
  })
})

describe('two processes', { timeout: 180_000 }, () => {
  it('explore.yaml and train.yaml meet in one job', async () => {
    const set = {
      'buffer.total_steps': 4,
      'synchronizer.sync_interval': 2,
      'explorer.eval_interval': 0,
      'explorer.eval_on_startup': false,
    }
    const both = [
      example.run('two_processes/explore.yaml', set),
      example.run('two_processes/train.yaml', { ...set, 'trainer.total_steps': 4 }),
    ]
    for (const ended of await Promise.all(both)) expect(ended).toMatchObject({ code: 0 })
    const job = 'quickstart/two_processes'
    expect(example.series(job, 'trainer', 'actor/grad_norm')).toHaveLength(4)
    expect(Math.max(...example.series(job, 'explorer', 'rollout/model_version'))).toBeGreaterThan(0)
  })
})
