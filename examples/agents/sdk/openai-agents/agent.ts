// OpenAI's Agents SDK, which speaks responses.
import { Agent, MaxTurnsExceededError, ModelBehaviorError, run, setTracingDisabled, tool } from '@openai/agents'
import { agent } from 'trinity-rft'
import { z } from 'zod'

type Shop = Record<string, Record<string, string>>
setTracingDisabled(true)

async function answer(question: string, shop: Shop) {
  const look = (name: string) =>
    tool({
      name,
      description: `The ${name} of an item`,
      parameters: z.object({ item: z.string() }),
      execute: async ({ item }) => shop[name]?.[item] ?? '?',
    })
  const clerk = new Agent({
    name: 'Clerk',
    model: 'gpt-4o-mini',
    tools: [look('price'), look('stock')],
    modelSettings: { maxTokens: 24 },
  })
  const ended = await run(clerk, question, { maxTurns: 3 }).catch(astray)
  return ended?.finalOutput
}

/** A model that goes astray has not answered; any other failure is one. */
const astray = (error: unknown) => {
  if (error instanceof MaxTurnsExceededError || error instanceof ModelBehaviorError) return undefined
  throw error
}

export default agent(
  'openai_agents_shop',
  async ({ question, shop, truth }) => (await answer(question, shop)) === truth,
)
