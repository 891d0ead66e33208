import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Study, simulator } from './r3l-kit.js'
import { ALGORITHMS, SIZES, WORLDS } from './r3l-table.js'

const study = new Study()
beforeAll(() => study.open())
afterAll(() => study.close())

describe.each(WORLDS)('all files of %s run for two steps', { timeout: 120_000 }, (world) => {
  const absent = world === 'scienceworld' && simulator.absent
  const names = ALGORITHMS.flatMap((algorithm) => SIZES.map((size) => `${algorithm}_${size}`))
  it.skipIf(absent).each(names)(`%s${absent ? simulator.note : ''}`, async (name) => {
    const ended = await study.twoSteps(world, name)
    // random weights never succeed, and RAFT learns from nothing else
    if (name.startsWith('RAFT')) expect(ended.stderr).toContain('nothing was trained in 2 steps')
    else expect(ended).toMatchObject({ code: 0 })
    const rewards = study.example.series(`R3L_${world}/${name}`, 'explorer', 'rollout/reward/mean')
    expect(rewards).toHaveLength(2)
  })
})
