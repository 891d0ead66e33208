import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { contextOf, modelOf, speaker, taskOf, text } from '../../../test/support/workflow-kit.js'
import { inScope, loadingScope, PLACEHOLDER } from '../../base/scope/index.js'
import type { SampleRequest } from '../../engine/contract.js'
import type { Experience } from '../../experience/index.js'
import { perform } from '../../explorer/perform.js'
import { workflows } from '../registry.js'
import { type AgentFunction, agent } from './agent.js'
import type { AgentOptions } from './rollout.js'

const { tokenizer } = text
let count = 0

/** One rollout of an agent with a model that answers so. */
async function roll(
  run: AgentFunction,
  says: (prompt: string) => string,
  row: Record<string, unknown> = {},
  options: AgentOptions = {},
) {
  const name = `agent-${count++}`
  const entry = agent(name, run, options)
  expect(workflows.get(name)).toBe(entry)
  const model = modelOf(await speaker(says))
  return perform(entry, contextOf(model, { task: taskOf({ raw: row, workflow: name, truth: row.answer as string }) }))
}

async function ask(baseURL: string, apiKey: string, messages: object[], more: object = {}) {
  const response = await fetch(`${baseURL}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'gpt-4o', messages, ...more }),
  })
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`)
  return (await response.json()) as { choices: { message: Record<string, unknown> & { content: string } }[] }
}

const written = ({ tokens, promptLength, actionMask }: Experience) =>
  tokenizer.decode(
    tokens.subarray(promptLength).filter((_, i) => actionMask[i] === 1),
    { skipSpecial: false },
  )

describe('agent', () => {
  it('calls the model over HTTP; what was sampled is what is trained on', async () => {
    const tools = [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } } }]
    const call = '<tool_call>{"name": "look",  "arguments": {"at": 1}}</tool_call>'
    const experiences = await roll(
      async ({ question, truth }, { baseURL, apiKey }) => {
        const messages: object[] = [{ role: 'user', content: question }]
        const first = await ask(baseURL, apiKey, messages, { tools })
        // as clients do: parsed and written again, with what they leave out
        const { tool_calls } = JSON.parse(JSON.stringify(first.choices[0].message))
        tool_calls[0].function.arguments = JSON.stringify(JSON.parse(tool_calls[0].function.arguments))
        messages.push({ role: 'assistant', content: '', tool_calls })
        messages.push({ role: 'tool', tool_call_id: tool_calls[0].id, content: 'a cat' })
        const { choices } = await ask(baseURL, apiKey, messages, { tools })
        return choices[0].message.content === truth
      },
      (prompt) => (prompt.includes('a cat') ? 'cat' : call),
      { question: 'what is there?', answer: 'cat' },
    )
    expect(experiences).toHaveLength(1)
    expect(experiences[0].reward).toBe(1)
    expect(written(experiences[0])).toBe(`${call}<|end|>cat<|end|>`)
  })

  it('learns every sampled token once, though the agent repeats a request and branches', async () => {
    let more = 0
    const experiences = await roll(
      async (_, { baseURL, apiKey }) => {
        const begin = [{ role: 'user', content: 'begin' }]
        const { choices } = await ask(baseURL, apiKey, begin)
        const said = [...begin, { role: 'assistant', content: choices[0].message.content }]
        // The same request without an idempotency key, as a client sends it that lost the reply.
        for (let i = 0; i < 3; i++) await ask(baseURL, apiKey, [...said, { role: 'user', content: 'continue' }])
        await ask(baseURL, apiKey, [...said, { role: 'user', content: 'otherwise' }])
        return 1
      },
      (prompt) => (prompt.includes('continue') ? `more ${++more}` : prompt.includes('otherwise') ? 'other' : 'first'),
    )
    const ends = (text: string) => `${text}<|end|>`
    expect(experiences.map(written)).toEqual([
      `${ends('first')}${ends('more 1')}`,
      ...['more 2', 'more 3', 'other'].map(ends),
    ])
    expect(experiences.map(({ reward, eid }) => [reward, eid.step])).toEqual([0, 1, 2, 3].map((step) => [1, step]))
  })

  it('finds the model in the environment, each rollout its own', async () => {
    const run: AgentFunction = async ({ n }) => {
      await sleep(Math.random() * 5)
      const { OPENAI_BASE_URL = '', OPENAI_API_KEY = '' } = process.env
      const { choices } = await ask(OPENAI_BASE_URL, OPENAI_API_KEY, [{ role: 'user', content: `${n}` }])
      return choices[0].message.content === `said ${n}`
    }
    const entry = agent('own', run)
    const all = await Promise.all(
      Array.from({ length: 30 }, async (_, n) => {
        const model = modelOf(await speaker(() => `said ${n}`))
        return perform(entry, contextOf(model, { task: taskOf({ raw: { n }, workflow: 'own' }) }))
      }),
    )
    expect(all.map(([{ reward }]) => reward)).toEqual(Array(30).fill(1))
    expect(process.env.OPENAI_BASE_URL).toBeUndefined()
  })

  it('a client that was made when the file was loaded asks the model of the rollout', async () => {
    const { baseURL, apiKey } = inScope(loadingScope({}), () => ({ baseURL: `${PLACEHOLDER}/v1`, apiKey: 'rollout' }))
    const run: AgentFunction = async () => (await ask(baseURL, apiKey, [{ role: 'user', content: '?' }])).choices.length
    const [{ reward }] = await roll(run, () => 'yes')
    expect(reward).toBe(1)
  })

  it('so does one that was made in a rollout before a long training step', async () => {
    let kept: string | undefined
    const run: AgentFunction = async (_, { baseURL, apiKey }) => {
      kept ??= baseURL
      return (await ask(kept, apiKey, [{ role: 'user', content: '?' }])).choices.length
    }
    await roll(run, () => 'yes')
    // longer than the server stays open
    await sleep(1300)
    const [{ reward }] = await roll(run, () => 'yes')
    expect(reward).toBe(1)
  })

  it("chance is the run's to decide, unless it is left to the agent", async () => {
    const asked = async (sampling?: 'run' | 'agent') => {
      const seen: SampleRequest[] = []
      const sampler = await speaker((_, request) => {
        seen.push(request)
        return 'yes'
      })
      const run: AgentFunction = async (_, { baseURL, apiKey }) => {
        await ask(baseURL, apiKey, [{ role: 'user', content: '?' }], { temperature: 0, seed: 7, max_tokens: 9 })
        return 1
      }
      await perform(agent(`chance-${sampling}`, run, { sampling }), contextOf(modelOf(sampler)))
      return seen[0].params
    }
    expect(await asked()).toMatchObject({ temperature: 1, maxTokens: 9 })
    const own = await asked('agent')
    expect(own).toMatchObject({ temperature: 0, maxTokens: 9 })
    expect(own.seed).not.toBe((await asked('run')).seed)
  })

  it('its key is dead when it has ended, and so are calls that it did not wait for', async () => {
    let kept = { baseURL: '', apiKey: '' }
    let left: Promise<unknown> | undefined
    const experiences = await roll(
      async (_, { baseURL, apiKey }) => {
        kept = { baseURL, apiKey }
        await ask(baseURL, apiKey, [{ role: 'user', content: 'waited for' }])
        left = ask(baseURL, apiKey, [{ role: 'user', content: 'not waited for' }]).catch((error: Error) => error)
        return 1
      },
      () => 'yes',
    )
    expect(experiences.map(({ promptText }) => promptText)).toEqual([expect.stringContaining('>waited for')])
    expect(await left).toBeInstanceOf(Error)
    await expect(ask(kept.baseURL, kept.apiKey, [{ role: 'user', content: 'late' }])).rejects.toThrow(/^40[14]/)
  })

  it('is told that its conversation is too long, and not given a stand-in for an answer', async () => {
    const limits = { maxModelLen: 60, maxPromptTokens: 10, truncatePrompts: true }
    const run: AgentFunction = async (_, { baseURL, apiKey }) => {
      const said = (length: number) => ask(baseURL, apiKey, [{ role: 'user', content: 'x'.repeat(length) }])
      await said(20)
      await expect(said(100)).rejects.toThrow(/^400 .*the limit is 59/)
      return 1
    }
    const experiences = await perform(agent('long', run), contextOf(modelOf(await speaker(() => 'yes'), { limits })))
    expect(experiences.map(({ truncateStatus }) => truncateStatus)).toEqual([undefined])
  })

  it('may set what it found in the environment, for itself', async () => {
    const run: AgentFunction = async (_, { baseURL, apiKey }) => {
      process.env.OPENAI_API_KEY = 'mine'
      expect(process.env.OPENAI_API_KEY).toBe('mine')
      return (await ask(baseURL, apiKey, [{ role: 'user', content: '?' }])).choices.length
    }
    expect((await roll(run, () => 'yes'))[0].reward).toBe(1)
    expect(process.env.OPENAI_API_KEY).toBeUndefined()
  })

  it('is checked when it is made', () => {
    const made =
      (...args: unknown[]) =>
      () =>
        (agent as (...args: unknown[]) => unknown)(...args)
    expect(made('no-function')).toThrow(expect.objectContaining({ code: 'agent/wrong' }))
    expect(made(() => 1)).toThrow(expect.objectContaining({ code: 'agent/wrong' }))
    expect(made('wrong', () => 1, { smpling: 'agent' })).toThrow(/smpling/)
    expect(made('wrong', () => 1, { sampling: 'agnt' })).toThrow(/sampling/)
    expect(made('wrong', () => 1, { unknownFields: 'keep' })).toThrow(/unknownFields/)
  })

  it('may send fields that are unknown, unless it is strict', async () => {
    const messages = [{ role: 'user', content: '?' }]
    const overHttp: AgentFunction = async (_, { baseURL, apiKey }) => {
      return (await ask(baseURL, apiKey, messages, { client_metadata: {} })).choices.length
    }
    const inProcess: AgentFunction = async (_, { openai }) => {
      return (await openai.chat.completions.create({ messages, client_metadata: {} })).choices.length
    }
    for (const run of [overHttp, inProcess]) {
      expect((await roll(run, () => 'yes'))[0].reward).toBe(1)
      await expect(roll(run, () => 'yes', {}, { unknownFields: 'refuse' })).rejects.toThrow("'client_metadata'")
      const strict = async () => {
        const model = modelOf(await speaker(() => 'yes'), { unknownFields: 'refuse' })
        return perform(agent(`agent-${count++}`, run), contextOf(model, { task: taskOf({ raw: {} }) }))
      }
      await expect(strict()).rejects.toThrow("'client_metadata'")
    }
  })

  it('fails as it failed, or says that it has not called the model', async () => {
    const failing = roll(
      () => {
        throw new Error('no database')
      },
      () => 'yes',
    )
    await expect(failing).rejects.toThrow('no database')
    await expect(
      roll(
        () => 1,
        () => 'yes',
      ),
    ).rejects.toMatchObject({ code: 'agent/no-call' })
  })
})
