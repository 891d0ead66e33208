import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { BASE, resolve } from '../../test/config-kit.js'
import { model, parts, stepConfig } from '../../test/trainer/kit.js'
import { rollouts } from '../../test/trainer/rollouts.js'
import { withoutTypes } from '../plugin/syntax.js'
import { lrSchedules } from './schedule/registry.js'
import { actorSettings, criticSettings } from './settings.js'
import { TrainStep } from './step.js'
import { Trainer } from './trainer.js'

const text = readFileSync(join(import.meta.dirname, '../../docs/training.md'), 'utf8')

describe('docs/training.md', () => {
  it('shows a configuration that does what it says', () => {
    const yaml = /```yaml\n([\s\S]*?)```/.exec(text)![1]
    const config = resolve(BASE + yaml)
    const [actor, critic] = [actorSettings(config, 200), criticSettings(config, 200)]
    expect(actor).toMatchObject({ epochs: 2 })
    expect(critic.schedule.at(7)).toBe(2e-5)
    expect([actor.schedule.at(1), actor.schedule.at(21)]).toEqual([0, 1e-5])
    expect(actor.schedule.at(201)).toBeCloseTo(1e-6, 12)
  })

  it('names every schedule', () => {
    for (const name of lrSchedules.names()) expect(text).toContain(`\`${name}\``)
  })

  it('names the metrics that a run gives', async () => {
    const policy = await model(1)
    const seen: Record<string, number>[] = []
    const given = await parts(stepConfig('dapo'), { policy }, rollouts(policy), {
      monitor: { log: (metrics) => void seen.push(metrics), table: () => {} },
    })
    await new Trainer(given).run(new AbortController().signal)
    for (const name of Object.keys(seen[0])) {
      const [prefix, key] = name.split('/')
      expect(text, name).toContain(`${prefix}/*`)
      if (prefix === 'time') expect(text, name).toContain(`\`${key}\``)
    }
  })

  it('runs what it shows', async () => {
    const [policy, reference] = [await model(1), await model(2)]
    const [config, experiences] = [stepConfig('grpo'), rollouts(policy)]
    const code = withoutTypes(/```ts\n([\s\S]*?)```/.exec(text)![1]).replace(/^import .*$/gm, '')
    const trainOnce = new Function('TrainStep', `${code.replace('export ', '')}\nreturn trainOnce`)(TrainStep)
    expect(await trainOnce({ policy, reference }, config, experiences)).toMatchObject({ 'actor/updates': 1 })
  })
})
