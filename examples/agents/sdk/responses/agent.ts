// OpenAI's SDK, responses, streamed.
import OpenAI from 'openai'
import { agent } from 'trinity-rft'

type Shop = Record<string, Record<string, string>>
const openai = new OpenAI()

const tools = ['price', 'stock'].map((name) => ({
  type: 'function' as const,
  name,
  strict: false,
  parameters: { type: 'object', properties: { item: { type: 'string' } }, required: ['item'] },
}))

async function answer(question: string, shop: Shop) {
  const input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: question }]
  for (let turn = 0; turn < 3; turn++) {
    const stream = openai.responses.stream({ model: 'gpt-4o-mini', input, tools, max_output_tokens: 24 })
    const { output, output_text } = await stream.finalResponse()
    input.push(...output)
    const calls = output.filter((item) => item.type === 'function_call')
    if (calls.length === 0) return output_text
    for (const call of calls) {
      const { item } = JSON.parse(call.arguments)
      input.push({ type: 'function_call_output', call_id: call.call_id, output: shop[call.name]?.[item] ?? '?' })
    }
  }
}

export default agent('responses_shop', async ({ question, shop, truth }) => (await answer(question, shop)) === truth)
