// OpenAI's Agents SDK: streamed; over chat completions.
import { Agent, OpenAIProvider, Runner, run, setTracingDisabled, tool } from '@openai/agents'
import OpenAI from 'openai'
import { agent } from 'trinity-rft'
import { z } from 'zod'

type Shop = Record<string, Record<string, string>>
setTracingDisabled(true)
const settings = { name: 'Clerk', model: 'gpt-4o-mini', modelSettings: { maxTokens: 24 } }

const clerkOf = (shop: Shop) => {
  const look = (name: string) =>
    tool({
      name,
      description: `The ${name} of an item`,
      parameters: z.object({ item: z.string() }),
      execute: async ({ item }) => shop[name]?.[item] ?? '?',
    })
  return new Agent({ ...settings, tools: [look('price'), look('stock')] })
}

agent('openai_agents_stream', async ({ question, shop, truth }) => {
  const streamed = await run(clerkOf(shop), question, { maxTurns: 3, stream: true })
  await streamed.completed.catch(() => {})
  return streamed.finalOutput === truth
})

agent('openai_agents_chat', async ({ question, shop, truth }) => {
  const modelProvider = new OpenAIProvider({ openAIClient: new OpenAI() as never, useResponses: false })
  const runner = new Runner({ modelProvider })
  const ended = await runner.run(clerkOf(shop), question, { maxTurns: 3 }).catch(() => undefined)
  return ended?.finalOutput === truth
})
