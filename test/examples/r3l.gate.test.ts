import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { expectComplete } from '../run/cli-kit.js'
import { dryRuns, exampleFiles } from './kit.js'
import { Study, simulator } from './r3l-kit.js'
import { WORLDS, type World } from './r3l-table.js'

const study = new Study()
beforeAll(() => study.open())
afterAll(() => study.close())

describe('all 50 files of the study', { timeout: 60_000 }, () => {
  it('pass config check and a dry run', () => {
    const files = exampleFiles().filter((file) => /^R3L\/\w+\/.*B\.yaml$/.test(file))
    expect(files).toHaveLength(50)
    const [check, ...runs] = dryRuns([
      ['config', 'check', ...files.map((file) => `examples/${file}`)],
      ...files.map((file) => ['run', '-c', `examples/${file}`, '--dry-run']),
    ])
    expect(check).toMatchObject({ code: 0 })
    expect(check.text.match(/^ok /gm)).toHaveLength(50)
    for (const [i, { code, text }] of runs.entries()) {
      expect(text, files[i]).toContain('Nothing was run')
      expect(code, files[i]).toBe(0)
    }
  })
})

describe('the R3L study with a tiny model', { timeout: 120_000 }, () => {
  const runs = async (world: World) => {
    const ended = await study.twoSteps(world, 'opmd_R3L_1.5B')
    expectComplete(ended)
    const of = (role: string, name: string) => study.example.series(`R3L_${world}/opmd_R3L_1.5B`, role, name)
    // every failure was reflected on; what a model with random weights says about it is of no use
    expect(of('explorer', 'rollout/reflection_unusable/mean')).toEqual([1, 1])
    expect(of('trainer', 'actor/grad_norm').length).toBeGreaterThan(1)
  }
  it.each(WORLDS.filter((world) => world !== 'scienceworld'))('%s', runs)
  it.skipIf(simulator.absent)(`scienceworld${simulator.note}`, () => runs('scienceworld'))

  it('countdown, with retries that need no report: both attempts are learned', async () => {
    const args = 'buffer.explorer_input.taskset.workflow_args'
    const name = 'opmd_R3L_7B'
    const ended = await study.twoSteps('countdown', name, { [`${args}.reflection`]: 'random' })
    expectComplete(ended)
    const of = (metric: string) => study.example.series(`R3L_countdown/${name}`, 'explorer', `rollout/${metric}/mean`)
    expect(of('second_attempts')).toEqual([2, 2])
    expect(of('second_improve')).toHaveLength(2)
  })
})
