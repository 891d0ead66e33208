// LangGraph with LangChain's model for OpenAI.
import { tool } from '@langchain/core/tools'
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
  const { messages } = await clerk.invoke({ messages: [{ role: 'user', content: question }] }, { recursionLimit: 7 })
  return messages.at(-1)?.content
}

export default agent(
  'langgraph_shop',
  async ({ question, shop, truth }) => (await answer(question, shop).catch(() => undefined)) === truth,
)
