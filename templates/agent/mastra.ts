import { Agent } from '@mastra/core/agent'
import { agent } from 'trinity-rft'
import { grade } from './grade.js'

export default agent('solve', async ({ question, answer }, { baseURL, apiKey }) => {
  // any name will do: in training, the model of trinity.yaml answers
  const model = { id: 'trinity/gpt-4o-mini', url: baseURL, apiKey } as const
  const solver = new Agent({ id: 'solver', name: 'solver', instructions: '', model })
  const { text } = await solver.generate(question)
  return grade(text, answer)
})
