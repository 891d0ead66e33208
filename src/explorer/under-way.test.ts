import { expect, it } from 'vitest'
import { contextOf, modelOf, speaker } from '../../test/support/workflow-kit.js'
import { Workflow } from '../workflow/workflow.js'
import { rolloutsOf, underWay } from './under-way.js'

class Nothing extends Workflow {
  async run() {
    return []
  }
}

it('finds a rollout by what its workflow holds, while it runs', async () => {
  const context = contextOf(modelOf(await speaker(undefined)))
  await underWay('1/0/0 (w)', context, async () => {
    expect(rolloutsOf()).toEqual(['1/0/0 (w)'])
    for (const part of [context, context.model, context.task, new Nothing(context)]) {
      expect(rolloutsOf(part)).toEqual(['1/0/0 (w)'])
    }
    expect([rolloutsOf({}), rolloutsOf(5)]).toEqual([[], []])
  })
  expect(rolloutsOf()).toEqual([])
})
