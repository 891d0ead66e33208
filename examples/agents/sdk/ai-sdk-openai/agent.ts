// Vercel's AI SDK with its provider for OpenAI, which speaks responses; streamed.
import { createOpenAI } from '@ai-sdk/openai'
import { stepCountIs, streamText, tool } from 'ai'
import { agent } from 'trinity-rft'
import { z } from 'zod'

type Shop = Record<string, Record<string, string>>

async function answer(question: string, shop: Shop, { baseURL, apiKey }: { baseURL: string; apiKey: string }) {
  const look = (name: string) =>
    tool({ inputSchema: z.object({ item: z.string() }), execute: async ({ item }) => shop[name]?.[item] ?? '?' })
  const { text } = streamText({
    model: createOpenAI({ baseURL, apiKey })('gpt-4o-mini'),
    prompt: question,
    tools: { price: look('price'), stock: look('stock') },
    stopWhen: stepCountIs(3),
    maxOutputTokens: 24,
  })
  return text
}

export default agent('ai_sdk_openai_shop', async ({ question, shop, truth }, rollout) => {
  return (await answer(question, shop, rollout)) === truth
})
