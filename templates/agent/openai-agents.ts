import { Agent, run, setTracingDisabled } from '@openai/agents'
import { agent } from 'trinity-rft'
import { grade } from './grade.js'

setTracingDisabled(true) // else it sends traces to OpenAI
// any name will do: in training, the model of trinity.yaml answers
const solver = new Agent({ name: 'Solver', model: 'gpt-4o-mini' })

export default agent('solve', async ({ question, answer }) => {
  const { finalOutput } = await run(solver, question)
  return grade(finalOutput ?? '', answer)
})
