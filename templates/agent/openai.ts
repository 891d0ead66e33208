import OpenAI from 'openai'
import { agent } from 'trinity-rft'
import { grade } from './grade.js'

export default agent('solve', async ({ question, answer }, { baseURL, apiKey }) => {
  const openai = new OpenAI({ baseURL, apiKey })
  const messages = [{ role: 'user' as const, content: question }]
  const { choices } = await openai.chat.completions.create({ model: 'gpt-4o-mini', messages })
  return grade(choices[0].message.content ?? '', answer)
})
