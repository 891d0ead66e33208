import OpenAI from 'openai'
import { agent } from 'trinity-rft'
import { grade } from './grade.js'

export default agent('solve', async ({ question, answer }, { baseURL, apiKey }) => {
  const openai = new OpenAI({ baseURL, apiKey })
  const messages = [{ role: 'user' as const, content: question }]
  // any name will do: in training, the model of trinity.yaml answers
  const { choices } = await openai.chat.completions.create({ model: 'gpt-4o-mini', messages })
  return grade(choices[0].message.content ?? '', answer)
})
