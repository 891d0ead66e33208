import { describe, expect, it } from 'vitest'
import { hasExample, publicNames } from './public.js'

const names = publicNames()

/** Where most people begin: these show how they are used. */
const MAIN =
  `Workflow SimpleWorkflow MultiTurnWorkflow RolloutModel workflows RewardFn rewardFn environments environment openEnvironment
  TrinityError createExperience policyLoss advantageFn algorithm defineLoss TrainStep engines NativeEngine createModel run loadConfig
  operator selector openDataset openBuffer Registry loadPlugins MockEngine describeEngine describeEnvironment`.split(
    /\s+/,
  )

describe('what the package exports', () => {
  it('is found at all', () => {
    const found = (entry: string) => names.filter((one) => one.entry === entry).map(({ name }) => name)
    expect(found('index.ts')).toEqual(expect.arrayContaining(['z', 'Workflow', 'Transition']))
    expect(found('engine.ts')).toEqual(expect.arrayContaining(['Row', 'LossRow', 'engines']))
    expect(found('index.ts').length).toBeLessThan(70)
  })

  it('says in a line what it is', () => {
    const silent = names.filter(({ comment }) => !/^\S.{8,}/.test(comment) || comment.startsWith('@'))
    expect(silent.map(({ name, file }) => `${file}: ${name}`)).toEqual([])
  })

  it('has each name in one entry', () => {
    const twice = names.filter((one) => names.some(({ name, entry }) => name === one.name && entry !== one.entry))
    expect(twice.map(({ entry, name }) => `${entry}: ${name}`)).toEqual([])
  })

  it('shows how the main things are used', () => {
    const shown = names.filter(hasExample).map(({ name }) => name)
    expect(MAIN.filter((name) => !names.some((one) => one.name === name))).toEqual([])
    expect(MAIN.filter((name) => !shown.includes(name))).toEqual([])
  })
})
