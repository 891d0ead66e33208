import { expect, it } from 'vitest'
import { failures } from '../../test/support/recorder.js'
import type { Call, Engine, ModelSpec, SampleSpec, TrainModel } from '../engine/contract.js'
import { MockEngine } from '../engine/mock/engine.js'
import { describeEngine } from './engine.js'

const failuresOf = (engine: Engine) =>
  failures((runner) => describeEngine(runner, 'tried', async () => ({ engine, path: 'mock' })))

/** A mock engine whose training models are broken in one way. */
class Broken extends MockEngine {
  readonly #how: (model: TrainModel) => Partial<TrainModel>

  constructor(how: (model: TrainModel) => Partial<TrainModel>) {
    super()
    this.#how = how
  }

  override async openTrain(spec: ModelSpec, call: Call): Promise<TrainModel> {
    const model = await super.openTrain(spec, call)
    return Object.assign(model, this.#how(model))
  }
}

it('finds nothing in an engine that keeps the contract', async () => {
  expect(await failuresOf(new MockEngine())).toEqual([])
})

it('finds an engine that adds the gradient of a repeated call again', async () => {
  let seq = 1e6
  const how = (model: TrainModel): Partial<TrainModel> => {
    const own = model.forwardBackward.bind(model)
    return { forwardBackward: (batch, loss, call) => own(batch, loss, { ...call, seq: ++seq }) }
  }
  expect(await failuresOf(new Broken(how))).toContain('never adds a gradient twice for a repeated call')
})

it('finds an engine that does not learn, forget or resume', async () => {
  const still = new Broken(() => ({ optimStep: async () => ({ gradNorm: 1, applied: true }) }))
  expect(await failuresOf(still)).toEqual(
    expect.arrayContaining(['learns: the loss falls along its gradient', 'forgets a gradient that is discarded']),
  )
  const forgetful = new Broken(() => ({ load: async () => {} }))
  expect(await failuresOf(forgetful)).toEqual(['resumes from a saved state exactly'])
})

it('finds an engine that samples although it says that it does not', async () => {
  class Shy extends MockEngine {
    override readonly caps = { ...new MockEngine().caps, sample: false }
    override openSample = (spec: SampleSpec, call: Call) => super.openSample(spec, call)
  }
  const failed = await failures((runner) =>
    describeEngine(runner, 'shy', async () => ({ engine: new Shy(), path: 'mock' }), { sample: false }),
  )
  expect(failed).toEqual(['says what it can do'])
})
