// Anthropic's SDK.
import Anthropic from '@anthropic-ai/sdk'
import { agent } from 'trinity-rft'

type Shop = Record<string, Record<string, string>>
const anthropic = new Anthropic()

const tools: Anthropic.Tool[] = ['price', 'stock'].map((name) => ({
  name,
  input_schema: { type: 'object', properties: { item: { type: 'string' } }, required: ['item'] },
}))

async function answer(question: string, shop: Shop) {
  const messages: Anthropic.MessageParam[] = [{ role: 'user', content: question }]
  for (let turn = 0; turn < 3; turn++) {
    const { content } = await anthropic.messages.create({ model: 'claude-opus-5', max_tokens: 24, messages, tools })
    messages.push({ role: 'assistant', content })
    const calls = content.filter((block) => block.type === 'tool_use')
    if (calls.length === 0) return content.map((block) => (block.type === 'text' ? block.text : '')).join('')
    const results = calls.map(({ id, name, input }) => ({
      type: 'tool_result' as const,
      tool_use_id: id,
      content: shop[name]?.[(input as { item: string }).item] ?? '?',
    }))
    messages.push({ role: 'user', content: results })
  }
}

export default agent('anthropic_shop', async ({ question, shop, truth }) => (await answer(question, shop)) === truth)
