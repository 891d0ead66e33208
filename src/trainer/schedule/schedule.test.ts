import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { lrSchedules } from './registry.js'
import { makeSchedule } from './schedule.js'

const base = { lr: 2, lr_scheduler_type: 'constant', lr_warmup_steps: -1, lr_warmup_steps_ratio: 0, min_lr_ratio: 0.1 }
const rates = (config: object, total: number | undefined, steps: number) => {
  const schedule = makeSchedule({ ...base, ...config }, total)
  return Array.from({ length: steps }, (_, i) => schedule.at(i + 1))
}

describe('learning-rate schedules', () => {
  it('constant, with a warm-up that starts at 0 or at its first share', () => {
    expect(rates({}, undefined, 3)).toEqual([2, 2, 2])
    expect(rates({ lr_warmup_steps: 4 }, undefined, 6)).toEqual([0, 0.5, 1, 1.5, 2, 2])
    expect(rates({ lr_warmup_steps: 4, zero_indexed_step: false }, undefined, 5)).toEqual([0.5, 1, 1.5, 2, 2])
  })

  it('a ratio is a share of all steps; steps win over it', () => {
    expect(rates({ lr_warmup_steps_ratio: 0.2 }, 10, 4)).toEqual([0, 1, 2, 2])
    expect(rates({ lr_warmup_steps: 0, lr_warmup_steps_ratio: 0.5 }, 10, 2)).toEqual([2, 2])
  })

  it('linear and cosine go down to min_lr_ratio', () => {
    expect(rates({ lr_scheduler_type: 'linear' }, 4, 6)).toEqual([
      2, 1.55, 1.1, 0.6499999999999999, 0.19999999999999996, 0.19999999999999996,
    ])
    const cosine = rates({ lr_scheduler_type: 'cosine' }, 4, 6)
    // 2·(0.55 + 0.45·cos(π·k/4))
    const byHand = [0, 1, 2, 3, 4, 4].map((k) => 2 * (0.55 + 0.45 * Math.cos((Math.PI * k) / 4)))
    for (const [i, rate] of cosine.entries()) expect(rate).toBeCloseTo(byHand[i], 12)
  })

  it('inverse_sqrt halves when the steps are four times the warm-up', () => {
    const schedule = makeSchedule({ ...base, lr_scheduler_type: 'inverse_sqrt', lr_warmup_steps: 10 }, undefined)
    expect(schedule.at(11)).toBeCloseTo(2, 12)
    expect(schedule.at(41)).toBeCloseTo(1, 12)
  })

  it('says that it cannot know the end', () => {
    const cosine = makeSchedule({ ...base, lr_scheduler_type: 'cosine' }, undefined)
    expect([cosine.at(1), cosine.at(1000)]).toEqual([2, 2])
    expect(cosine.note).toContain('trainer.total_steps')
    expect(makeSchedule({ ...base, lr_warmup_steps_ratio: 0.1 }, undefined).note).toContain('no warm-up')
    expect(makeSchedule({ ...base, lr_scheduler_type: 'cosine' }, 9).note).toBeUndefined()
  })

  it('unknown names are answered with the known ones', () => {
    expect(() => makeSchedule({ ...base, lr_scheduler_type: 'cosin' }, 5)).toThrowError(
      expect.objectContaining({ hint: expect.stringContaining("did you mean 'cosine'") }),
    )
  })

  it('stays between 0 and lr, and never rises after the warm-up', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...lrSchedules.names()),
        fc.integer({ min: 0, max: 20 }),
        fc.integer({ min: 1, max: 60 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (lr_scheduler_type, lr_warmup_steps, total, min_lr_ratio) => {
          const all = rates({ lr_scheduler_type, lr_warmup_steps, min_lr_ratio }, total, 80)
          for (const [i, rate] of all.entries()) {
            expect(rate).toBeGreaterThanOrEqual(0)
            expect(rate).toBeLessThanOrEqual(2 + 1e-12)
            if (i > lr_warmup_steps) expect(rate).toBeLessThanOrEqual(all[i - 1] + 1e-12)
            if (i > lr_warmup_steps) expect(rate).toBeGreaterThanOrEqual(2 * min_lr_ratio - 1e-12)
          }
        },
      ),
    )
  })
})
