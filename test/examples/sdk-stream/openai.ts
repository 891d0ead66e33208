// OpenAI's SDK, chat completions, streamed.
import OpenAI from 'openai'
import { agent } from 'trinity-rft'

const openai = new OpenAI()
const tools = ['price', 'stock'].map((name) => ({
  type: 'function' as const,
  function: { name, parameters: { type: 'object', properties: { item: { type: 'string' } } } },
}))

export default agent('openai_stream', async ({ question, shop, truth }) => {
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: question }]
  for (let turn = 0; turn < 3; turn++) {
    const stream = openai.chat.completions.stream({ model: 'gpt-4o-mini', messages, tools, max_tokens: 24 })
    const { message } = (await stream.finalChatCompletion()).choices[0]
    messages.push(message)
    if (!message.tool_calls?.length) return message.content === truth
    for (const call of message.tool_calls) {
      const { item } = JSON.parse(call.function.arguments)
      messages.push({ role: 'tool', tool_call_id: call.id, content: shop[call.function.name]?.[item] ?? '?' })
    }
  }
  return false
})
