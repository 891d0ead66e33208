import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { generateText } from 'ai'
import { agent } from 'trinity-rft'
import { grade } from './grade.js'

export default agent('solve', async ({ question, answer }, { baseURL, apiKey }) => {
  // any name will do: in training, the model of trinity.yaml answers
  const model = createOpenAICompatible({ name: 'trinity', baseURL, apiKey })('gpt-4o-mini')
  const { text } = await generateText({ model, prompt: question })
  return grade(text, answer)
})
