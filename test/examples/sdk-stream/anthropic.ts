// Anthropic's SDK, streamed.
import Anthropic from '@anthropic-ai/sdk'
import { agent } from 'trinity-rft'

const anthropic = new Anthropic()
const tools: Anthropic.Tool[] = ['price', 'stock'].map((name) => ({
  name,
  input_schema: { type: 'object', properties: { item: { type: 'string' } } },
}))

agent('anthropic_stream', async ({ question, shop, truth }) => {
  const messages: Anthropic.MessageParam[] = [{ role: 'user', content: question }]
  for (let turn = 0; turn < 3; turn++) {
    const stream = anthropic.messages.stream({ model: 'claude-opus-5', max_tokens: 24, messages, tools })
    const { content } = await stream.finalMessage()
    messages.push({ role: 'assistant', content })
    const calls = content.filter((block) => block.type === 'tool_use')
    if (calls.length === 0) return content.map((block) => (block.type === 'text' ? block.text : '')).join('') === truth
    const results = calls.map(({ id, name, input }) => ({
      type: 'tool_result' as const,
      tool_use_id: id,
      content: shop[name]?.[(input as { item: string }).item] ?? '?',
    }))
    messages.push({ role: 'user', content: results })
  }
  return false
})
