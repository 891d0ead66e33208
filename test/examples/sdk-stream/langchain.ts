// LangGraph, streamed; LangChain's model for OpenAI alone, over responses.
import { tool } from '@langchain/core/tools'
import { createReactAgent } from '@langchain/langgraph/prebuilt'
import { ChatOpenAI } from '@langchain/openai'
import { agent } from 'trinity-rft'
import { z } from 'zod'

type Shop = Record<string, Record<string, string>>
const clerkOf = (shop: Shop, useResponsesApi: boolean) => {
  const look = (name: string) =>
    tool(async ({ item }: { item: string }) => shop[name]?.[item] ?? '?', {
      name,
      description: `The ${name} of an item`,
      schema: z.object({ item: z.string() }),
    })
  const llm = new ChatOpenAI({ model: 'gpt-4o-mini', maxTokens: 24, useResponsesApi })
  return createReactAgent({ llm, tools: [look('price'), look('stock')] })
}
const limit = { recursionLimit: 7 }

agent('langgraph_stream', async ({ question, shop, truth }) => {
  let last: unknown
  try {
    const messages = [{ role: 'user', content: question }]
    // whoever wants the messages piece by piece makes LangChain stream
    const stream = await clerkOf(shop, false).stream({ messages }, { ...limit, streamMode: ['messages', 'values'] })
    for await (const [mode, state] of stream) if (mode === 'values') last = state.messages.at(-1)?.content
  } catch {
    return false
  }
  return last === truth
})

agent('langgraph_responses', async ({ question, shop, truth }) => {
  const messages = [{ role: 'user', content: question }]
  const ended = await clerkOf(shop, true)
    .invoke({ messages }, limit)
    .catch(() => undefined)
  return ended?.messages.at(-1)?.text === truth
})
