import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { testData } from '../../test/support/test-data.js'
import { modelOf, speaker } from '../../test/support/workflow-kit.js'
import { Speaking } from './dialect.fixture.js'
import type { Wire } from './dialect.js'
import { dialects } from './dialects.js'

/** Requests of real SDKs: a question, then the result of the tool that was called. */
const { path, absent, note } = testData('../spec/captures/agents')
const NAMES = [
  ...['ai-sdk-compat', 'ai-sdk-compat-agent', 'ai-sdk-compat-stream', 'ai-sdk-openai', 'anthropic', 'anthropic-runner'],
  ...['anthropic-runner-nothread', 'langchain', 'langchain-responses', 'langchain-stream', 'langgraph', 'mastra'],
  ...['mastra-router', 'openai-agents', 'openai-agents-chat', 'openai-agents-hdr', 'openai-agents-stream'],
  ...['openai-chat', 'openai-responses'],
]
/** Blanks as no client prints them again. */
const CALL = '<tool_call>\n{"name": "add", "arguments": {"b": 2,  "a": 1}}\n</tool_call>'

interface Captured {
  readonly url: string
  readonly body: Wire
}

describe.skipIf(absent)(`requests of SDKs${note}`, () => {
  it.each(NAMES)('%s: the second turn goes on from the tokens of the first', async (name) => {
    const turns = JSON.parse(readFileSync(join(path, `${name}.json`), 'utf8')) as Captured[]
    const model = modelOf(await speaker((prompt) => (prompt.includes('3') ? 'It is 3.' : CALL)))
    const dialect = dialects.find((one) => turns[0].url === `/v1${one.path}`)!
    const speaking = new Speaking(dialect, model)
    const ask = (body: Wire) => speaking.ask(body.max_tokens ? { ...body, max_tokens: 1000 } : body)
    const first = await ask(turns[0].body)
    const [call] = first.said.tool_calls as { id: string; function: Wire }[]
    expect(call.function).toEqual({ name: 'add', arguments: '{"b":2,"a":1}' })
    const own = { call_1: call.id, toolu_1: call.id, m1: first.id, fc_1: 'fc_of_ours' }
    const sent = Object.entries(own).reduce((text, [theirs, ours]) => {
      return text.replaceAll(`"${theirs}"`, `"${ours}"`)
    }, JSON.stringify(turns[1].body))
    const second = await ask(JSON.parse(sent) as Wire)
    expect(second.said).toMatchObject({ content: 'It is 3.' })
    expect(model.stats.divergences).toBe(0)
    const { tokens, promptLength, actionMask } = model.toExperience()
    const written = [...tokens.subarray(promptLength)].filter((_, i) => actionMask![i] === 1)
    expect(model.tokenizer.decode(written, { skipSpecial: false })).toBe(`${CALL}<|end|>It is 3.<|end|>`)
  })
})
