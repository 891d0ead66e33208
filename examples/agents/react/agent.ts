// The small agent that comes with Trinity: it asks the model, runs the tools that the model calls, and asks again.
import { agent, z } from 'trinity-rft'
import { ReactAgent, reactTool } from 'trinity-rft/agent'

type Shop = Record<string, Record<string, string>>

const look = (name: string, shop: Shop) =>
  reactTool({
    name,
    description: `The ${name} of an item in the shop`,
    parameters: z.object({ item: z.string() }),
    run: ({ item }) => shop[name][item] ?? '?',
  })

export default agent('react_shop', async ({ question, shop, truth }, { openai, signal }) => {
  const tools = [look('price', shop), look('stock', shop)]
  const clerk = new ReactAgent({ openai, tools, maxSteps: 3, request: { max_tokens: 24 }, signal })
  const { text, end } = await clerk.reply(question)
  return end === 'answer' && text === truth
})
