// Mastra.
import { Agent } from '@mastra/core/agent'
import { createTool } from '@mastra/core/tools'
import { agent } from 'trinity-rft'
import { z } from 'zod'

type Shop = Record<string, Record<string, string>>

async function answer(question: string, shop: Shop, { baseURL, apiKey }: { baseURL: string; apiKey: string }) {
  const look = (id: string) =>
    createTool({
      id,
      description: `The ${id} of an item`,
      inputSchema: z.object({ item: z.string() }),
      execute: async ({ item }: { item: string }) => shop[id]?.[item] ?? '?',
    })
  const clerk = new Agent({
    id: 'clerk',
    name: 'clerk',
    instructions: '',
    model: { id: 'shop/gpt-4o-mini', url: baseURL, apiKey },
    tools: { price: look('price'), stock: look('stock') },
  })
  const { text } = await clerk.generate(question, { maxSteps: 3, modelSettings: { maxOutputTokens: 24 } })
  return text
}

export default agent('mastra_shop', async ({ question, shop, truth }, rollout) => {
  return (await answer(question, shop, rollout)) === truth
})
