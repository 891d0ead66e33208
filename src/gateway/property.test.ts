import { describe, expect, it } from 'vitest'
import { modelOf, speaker } from '../../test/support/workflow-kit.js'
import { backWire, questionWire } from '../dialect/clients.fixture.js'
import type { Wire } from '../dialect/dialect.js'
import { dialects } from '../dialect/dialects.js'
import type { RolloutModel } from '../workflow/index.js'
import { fuzz } from './fuzz.fixture.js'
import { Gateway } from './index.js'

describe.each(dialects.map((dialect) => [dialect.name, dialect] as const))('%s over HTTP', (name, dialect) => {
  it('answers or refuses whatever comes, and records what it answered', async () => {
    const seen = await fuzz(dialect, 150, 16)
    expect(seen.get(200)).toBeGreaterThan(5)
    expect(seen.get(400)).toBeGreaterThan(20)
  })

  it.skipIf(name === 'completions')('finds the tokens of a client that says nothing of itself', async () => {
    const said = ['<tool_call>{"name": "add", "arguments": {"a":  1}}</tool_call>', 'It is 3.']
    const sampler = await speaker((prompt) => said[prompt.includes('add') && prompt.includes('more') ? 1 : 0])
    const models: RolloutModel[] = []
    const open = () => {
      models.push(modelOf(sampler))
      return { model: models[models.length - 1] }
    }
    const gateway = await Gateway.open({ dialects, visitors: { open, models: ['policy'] } })
    try {
      const ask = async (body: Wire) => {
        const init = { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
        return (await (await fetch(`${gateway.url}/v1${dialect.path}`, init)).json()) as Wire
      }
      const question = questionWire(name)
      // three that begin alike, one after another and then in turns
      const replies = [await ask(question), await ask(question), await ask(question)]
      for (const reply of replies) await ask(backWire(name, question, reply))
      expect(models.map(({ stats }) => [stats.calls, stats.divergences])).toEqual([1, 2, 3].map(() => [2, 0]))
      for (const model of models) expect(model.toExperience().responseText).toContain(said[0])
    } finally {
      await gateway.close()
    }
  })
})
