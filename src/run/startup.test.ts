import { expect, it } from 'vitest'
import type { ProgressView } from './job.js'
import { Startup } from './startup.js'

it('says once what the time until the first rollout went into', () => {
  let now = 0
  const lines: string[] = []
  const told: string[] = []
  const view: ProgressView = {
    phase: (role, what) => told.push(`${role} ${what}`),
    metrics() {},
    note: (text) => told.push(text),
    end() {},
    close() {},
  }
  const startup = new Startup({ info: (line) => lines.push(line) }, 100, () => now)
  const watched = startup.watch(view)
  const later = (ms: number, what: () => void) => {
    now += ms
    what()
  }
  later(600, () => watched.phase('model', 'opening the policy'))
  later(1500, () => watched.phase('explorer', 'step 1'))
  later(250, () => watched.phase('model', 'opening the samplers'))
  watched.note('something')
  later(1000, () => startup.sampled())
  later(1000, () => startup.sampled())
  watched.phase('model', 'late')
  expect(lines).toEqual([
    'first rollout after 3.25 s: configuration 0.50, opening the policy 1.75, opening the samplers 1.00',
  ])
  expect(told).toEqual([
    'model opening the policy',
    'explorer step 1',
    'model opening the samplers',
    'something',
    'model late',
  ])
})
