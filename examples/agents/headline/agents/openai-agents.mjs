// The same assistant written with OpenAI's Agents SDK. Nothing in this file knows of Trinity: `node hosted.mjs openai-agents`
// asks a hosted model with it.
import { Agent, MaxTurnsExceededError, ModelBehaviorError, run, setTracingDisabled, tool } from '@openai/agents'
import { z } from 'zod'
import { calculate } from './calculate.mjs'

setTracingDisabled(true)

export async function answer(question, prices) {
  const calls = []
  const used = (name, run) => async (given) => {
    const result = run(given)
    calls.push({ tool: name, given, result })
    return result
  }
  const assistant = new Agent({
    name: 'assistant',
    model: 'gpt-4o-mini',
    modelSettings: { maxTokens: 64 },
    tools: [
      tool({
        name: 'calculator',
        description: 'Works out a sum',
        parameters: z.object({ expression: z.string().describe('such as 12 * 3') }),
        execute: used('calculator', ({ expression }) => calculate(expression)),
      }),
      tool({
        name: 'price',
        description: 'Price of one piece of an item',
        parameters: z.object({ item: z.string() }),
        execute: used('price', ({ item }) => String(prices[item] ?? 'there is no such item')),
      }),
    ],
  })
  const ended = await run(assistant, question, { maxTurns: 4 }).catch(astray)
  return { text: ended?.finalOutput ?? '', calls }
}

/** A model that goes astray has not answered; any other failure is one. */
function astray(error) {
  if (error instanceof MaxTurnsExceededError || error instanceof ModelBehaviorError) return undefined
  throw error
}
