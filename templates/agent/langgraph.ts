import { createReactAgent } from '@langchain/langgraph/prebuilt'
import { ChatOpenAI } from '@langchain/openai'
import { agent } from 'trinity-rft'
import { grade } from './grade.js'

export default agent('solve', async ({ question, answer }, { baseURL, apiKey }) => {
  // any name will do: in training, the model of trinity.yaml answers
  const llm = new ChatOpenAI({ model: 'gpt-4o-mini', apiKey, configuration: { baseURL } })
  const solver = createReactAgent({ llm, tools: [] })
  const { messages } = await solver.invoke({ messages: [{ role: 'user', content: question }] })
  return grade(String(messages.at(-1)?.content), answer)
})
