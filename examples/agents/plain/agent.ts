// An agent as it is written against any server of the OpenAI API, with nothing but fetch: it asks the model, runs the tools
// that the model calls, and asks again. The last lines make it trainable.
import { agent } from 'trinity-rft'

type Shop = Record<'price' | 'stock', Record<string, string>>
interface Completion {
  choices: {
    message: { content: string | null; tool_calls?: { id: string; function: { name: string; arguments: string } }[] }
  }[]
}

const tools = ['price', 'stock'].map((name) => ({
  type: 'function',
  function: {
    name,
    description: `The ${name} of an item in the shop`,
    parameters: { type: 'object', properties: { item: { type: 'string' } }, required: ['item'] },
  },
}))

async function answer(question: string, shop: Shop, { baseURL, apiKey }: { baseURL: string; apiKey: string }) {
  const messages: object[] = [{ role: 'user', content: question }]
  for (let turn = 0; turn < 3; turn++) {
    const response = await fetch(`${baseURL}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'gpt-4o-mini', messages, tools, max_tokens: 24 }),
    })
    if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`)
    const { message } = ((await response.json()) as Completion).choices[0]
    messages.push(message)
    if (!message.tool_calls) return message.content
    for (const { id, function: called } of message.tool_calls) {
      const { item } = JSON.parse(called.arguments)
      const content = shop[called.name as keyof Shop]?.[item] ?? '?'
      messages.push({ role: 'tool', tool_call_id: id, content })
    }
  }
  return undefined
}

export default agent('shop', async ({ question, shop, truth }, rollout) => {
  return (await answer(question, shop, rollout)) === truth
})
