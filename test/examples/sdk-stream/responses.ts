// OpenAI's SDK, responses, not streamed.
import OpenAI from 'openai'
import { agent } from 'trinity-rft'

const openai = new OpenAI()
const tools = ['price', 'stock'].map((name) => ({
  type: 'function' as const,
  name,
  strict: false,
  parameters: { type: 'object', properties: { item: { type: 'string' } } },
}))

export default agent('responses_whole', async ({ question, shop, truth }) => {
  const input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: question }]
  for (let turn = 0; turn < 3; turn++) {
    const body = { model: 'gpt-4o-mini', input, tools, max_output_tokens: 24 }
    const { output, output_text } = await openai.responses.create(body)
    input.push(...(output as OpenAI.Responses.ResponseInput))
    const calls = output.filter((item) => item.type === 'function_call')
    if (calls.length === 0) return output_text === truth
    for (const call of calls) {
      const { item } = JSON.parse(call.arguments)
      input.push({ type: 'function_call_output', call_id: call.call_id, output: shop[call.name]?.[item] ?? '?' })
    }
  }
  return false
})
