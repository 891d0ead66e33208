// An agent somewhere else: it asks the model that serve.yaml serves, runs the tools that the model calls, and says what each
// attempt was worth. node examples/agents/serve/agent.mjs [rounds] [url]
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { TrinityClient } from 'trinity-rft'

const [rounds = '12', url = 'http://127.0.0.1:8010'] = process.argv.slice(2)
const TASKS = 16
const ATTEMPTS = 8

const tools = ['price', 'stock'].map((name) => ({
  type: 'function',
  function: { name, parameters: { type: 'object', properties: { item: { type: 'string' } }, required: ['item'] } },
}))

async function ask(client, messages) {
  const response = await client.fetch(`${client.baseURL}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'gpt-4o-mini', messages, tools, max_tokens: 24 }),
  })
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`)
  return (await response.json()).choices[0].message
}

async function answer(client, { question, shop }) {
  const messages = [{ role: 'user', content: question }]
  for (let turn = 0; turn < 3; turn++) {
    const message = await ask(client, messages)
    messages.push(message)
    if (!message.tool_calls) return message.content
    for (const { id, function: called } of message.tool_calls) {
      const { item } = JSON.parse(called.arguments)
      messages.push({ role: 'tool', tool_call_id: id, content: shop[called.name]?.[item] ?? '?' })
    }
  }
  return undefined
}

/** One client for each attempt: attempts at a task are compared with each other. */
async function attempt(task, taskId, runId) {
  const client = new TrinityClient(url, { taskId, runId })
  const isRight = (await answer(client, task)) === task.truth
  await client.feedback(isRight)
  return isRight
}

const file = new URL('../made/tasks/train.jsonl', import.meta.url)
const tasks = readFileSync(file, 'utf8').trim().split('\n').map(JSON.parse)
const server = new TrinityClient(url)
while (!(await server.alive())) await sleep(200)
const version = async () => (await server.metrics())['rollout/model_0/model_version']

for (let round = 0; round < Number(rounds); round++) {
  const before = await version()
  const some = tasks.slice(round * TASKS, (round + 1) * TASKS)
  const all = some.flatMap((task, i) =>
    Array.from({ length: ATTEMPTS }, (_, run) => attempt(task, `${round}-${i}`, run)),
  )
  const right = (await Promise.all(all)).filter(Boolean).length
  const { count } = await server.commit()
  console.log(
    `round ${round + 1}: ${(right / all.length).toFixed(2)} right, weights ${before}, ${count} answers to the trainer`,
  )
  // the next round is with what was learned of this one, where a trainer runs
  for (let waited = 0; waited < 300 && (await version()) === before; waited++) await sleep(100)
}
