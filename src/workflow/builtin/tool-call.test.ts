import { expect, it } from 'vitest'
import { contextOf, modelOf, speaker, taskOf } from '../../../test/support/workflow-kit.js'
import { workflows } from '../registry.js'
import { ToolCallWorkflow } from './tool-call.js'

const tools = [{ name: 'weather', parameters: { city: { type: 'string' } } }]
const answer = [{ name: 'weather', arguments: { city: 'Oslo', days: 2 } }]
const conversations = [
  { from: 'human', value: 'Weather in Bergen?' },
  { from: 'function_call', value: { name: 'weather', arguments: { city: 'Bergen' } } },
  { from: 'observation', value: 'rain' },
  { role: 'assistant', content: 'Rain.' },
  { from: 'user', value: 'And in Oslo for two days?' },
]
const right =
  '<think>Oslo</think><tool_call>[{"arguments": {"days": 2, "city": "Oslo"}, "name": "weather"}]</tool_call>'

async function run(raw: Record<string, unknown>, said: string[]) {
  let seen = ''
  const speech = await speaker((prompt) => {
    seen = prompt
    return said
  })
  const model = modelOf(speech, { n: said.length })
  const experiences = await new ToolCallWorkflow(contextOf(model, { task: taskOf({ raw }), repeat: said.length })).run()
  return { seen, rewards: experiences.map(({ reward }) => reward), experiences }
}

it('shows the tools a line each and the conversation so far; exactly the expected calls earn 1', async () => {
  const wrong = right.replace('Oslo"', 'Rome"')
  const raw = { tools: JSON.stringify(tools), raw_system: 'Be kind.', conversations, answer: JSON.stringify(answer) }
  const { seen, rewards, experiences } = await run(raw, [right, wrong, right.replace('<think>', ''), 'no'])
  expect(rewards).toEqual([1, 0, 0, 0])
  expect(experiences[0].metrics).toEqual({ score: 1 })
  expect(seen).toMatch(/^<\|system\|>Be kind\.\n/)
  expect(seen).toContain(`<tools>\n${JSON.stringify({ type: 'function', function: tools[0] })}\n</tools>`)
  const talk = seen.slice(seen.indexOf('<|user|>'))
  expect(talk).toBe(
    '<|user|>Weather in Bergen?<|end|><|assistant|>{"name":"weather","arguments":{"city":"Bergen"}}<|end|>' +
      '<|tool|>rain<|end|><|assistant|>Rain.<|end|><|user|>And in Oslo for two days?<|end|><|assistant|>',
  )
})

it('lists instead of JSON, tools in the long form, and no call where none is expected', async () => {
  const long = [{ type: 'function', function: tools[0] }]
  const { seen, rewards } = await run({ tools: long, conversations, answer: [] }, ['<think>none</think>Hello', right])
  expect(rewards).toEqual([1, 0])
  expect(seen).toContain(JSON.stringify(long[0]))
})

it.each([
  ['tools', { tools: '{', conversations, answer }],
  ['tools', { tools: ['x'], conversations, answer }],
  ['conversations', { tools, answer }],
  ['conversations', { tools, conversations: [{ from: 'ghost', value: 'boo' }], answer }],
  ['conversations', { tools, conversations: [{ from: 'human', value: null }], answer }],
  ['answer', { tools, conversations, answer: null }],
])('a row without usable %s is refused by name', async (column, raw) => {
  await expect(run(raw, [right])).rejects.toMatchObject({ code: 'task/column', path: column })
})

it('has the name of the examples too', () => {
  expect(workflows.get('toolcall_workflow')).toBe(workflows.get('tool_call_workflow'))
})
