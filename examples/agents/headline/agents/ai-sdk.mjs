// A shop assistant written with Vercel's AI SDK. Nothing in this file knows of Trinity: `node hosted.mjs ai-sdk` asks a
// hosted model with it.
import { openai } from '@ai-sdk/openai'
import { generateText, stepCountIs, tool } from 'ai'
import { z } from 'zod'
import { calculate } from './calculate.mjs'

export async function answer(question, prices) {
  const calls = []
  const used = (name, run) => async (given) => {
    const result = run(given)
    calls.push({ tool: name, given, result })
    return result
  }
  const { text } = await generateText({
    model: openai('gpt-4o-mini'),
    prompt: question,
    tools: {
      calculator: tool({
        description: 'Works out a sum',
        inputSchema: z.object({ expression: z.string().describe('such as 12 * 3') }),
        execute: used('calculator', ({ expression }) => calculate(expression)),
      }),
      price: tool({
        description: 'Price of one piece of an item',
        inputSchema: z.object({ item: z.string() }),
        execute: used('price', ({ item }) => String(prices[item] ?? 'there is no such item')),
      }),
    },
    stopWhen: stepCountIs(4),
    maxOutputTokens: 64,
  })
  return { text, calls }
}
