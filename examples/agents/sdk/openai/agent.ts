// OpenAI's SDK, chat completions. The client is made as ever: no address, no key.
import OpenAI from 'openai'
import { agent } from 'trinity-rft'

type Shop = Record<string, Record<string, string>>
const openai = new OpenAI()

const tools = ['price', 'stock'].map((name) => ({
  type: 'function' as const,
  function: {
    name,
    parameters: { type: 'object', properties: { item: { type: 'string' } }, required: ['item'] },
  },
}))

async function answer(question: string, shop: Shop) {
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: question }]
  for (let turn = 0; turn < 3; turn++) {
    const { choices } = await openai.chat.completions.create({ model: 'gpt-4o-mini', messages, tools, max_tokens: 24 })
    const { message } = choices[0]
    messages.push(message)
    if (!message.tool_calls) return message.content
    for (const call of message.tool_calls) {
      if (call.type !== 'function') continue
      const { item } = JSON.parse(call.function.arguments)
      messages.push({ role: 'tool', tool_call_id: call.id, content: shop[call.function.name]?.[item] ?? '?' })
    }
  }
}

export default agent('openai_shop', async ({ question, shop, truth }) => (await answer(question, shop)) === truth)
