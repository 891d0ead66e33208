// LangGraph with LangChain's model for OpenAI.
import { tool } from '@langchain/core/tools'
import { GraphRecursionError } from '@langchain/langgraph'
import { createReactAgent } from '@langchain/langgraph/prebuilt'
import { ChatOpenAI } from '@langchain/openai'
import { agent } from 'trinity-rft'
import { z } from 'zod'

type Shop = Record<string, Record<string, string>>

async function answer(question: string, shop: Shop) {
  const look = (name: string) =>
    tool(async ({ item }: { item: string }) => shop[name]?.[item] ?? '?', {
      name,
      description: `The ${name} of an item`,
      schema: z.object({ item: z.string() }),
    })
  const llm = new ChatOpenAI({ model: 'gpt-4o-mini', maxTokens: 24 })
  const clerk = createReactAgent({ llm, tools: [look('price'), look('stock')] })
  const asked = { messages: [{ role: 'user', content: question }] }
  const ended = await clerk.invoke(asked, { recursionLimit: 7 }).catch(astray)
  return ended?.messages.at(-1)?.content
}

/** A model that calls tools without end has not answered; any other failure is one. */
const astray = (error: unknown) => {
  if (error instanceof GraphRecursionError) return undefined
  throw error
}

export default agent('langgraph_shop', async ({ question, shop, truth }) => (await answer(question, shop)) === truth)
