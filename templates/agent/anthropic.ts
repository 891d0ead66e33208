import Anthropic from '@anthropic-ai/sdk'
import { agent } from 'trinity-rft'
import { grade } from './grade.js'

export default agent('solve', async ({ question, answer }, { anthropicBaseURL, apiKey }) => {
  const anthropic = new Anthropic({ baseURL: anthropicBaseURL, apiKey })
  const messages = [{ role: 'user' as const, content: question }]
  // any name will do: in training, the model of trinity.yaml answers
  const { content } = await anthropic.messages.create({ model: 'claude-opus-5', max_tokens: 64, messages })
  return grade(content.map((block) => (block.type === 'text' ? block.text : '')).join(''), answer)
})
