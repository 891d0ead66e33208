import { agent } from 'trinity-rft'
import { grade } from './grade.js'

export default agent('solve', async ({ question, answer }, { openai, model }) => {
  const messages = [{ role: 'user', content: question }]
  const { choices } = await openai.chat.completions.create({ model, messages })
  return grade(choices[0].message.content ?? '', answer)
})
