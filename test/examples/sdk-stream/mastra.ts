// Mastra, streamed.
import { Agent } from '@mastra/core/agent'
import { createTool } from '@mastra/core/tools'
import { agent } from 'trinity-rft'
import { z } from 'zod'

agent('mastra_stream', async ({ question, shop, truth }, { baseURL, apiKey }) => {
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
  const stream = await clerk.stream(question, { maxSteps: 3, modelSettings: { maxOutputTokens: 24 } })
  return (await stream.text) === truth
})
