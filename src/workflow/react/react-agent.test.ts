import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { modelOf, speaker, text } from '../../../test/support/workflow-kit.js'
import type { Experience } from '../../experience/index.js'
import { ReactAgent, type ReactOptions } from './react-agent.js'
import { reactTool } from './tool.js'

const call = (name: string, args: unknown) => `<tool_call>${JSON.stringify({ name, arguments: args })}</tool_call>`

const add = reactTool({
  name: 'add',
  description: 'adds',
  parameters: z.object({ a: z.number(), b: z.number().default(1) }),
  run: ({ a, b }) => a + b,
})

/** An agent with a model that says these one after another, and that model. */
async function agentOf<R>(says: readonly string[], options: Partial<ReactOptions<R>> = {}) {
  const prompts: string[] = []
  const model = modelOf(await speaker((prompt) => says[prompts.push(prompt) - 1] ?? 'out of words'))
  return { agent: new ReactAgent<R>({ openai: model.openai(), ...options }), model, prompts }
}

const written = ({ tokens, promptLength, actionMask }: Experience) =>
  text.tokenizer.decode(
    tokens.subarray(promptLength).filter((_, i) => actionMask[i] === 1),
    { skipSpecial: false },
  )

describe('ReactAgent', () => {
  it('acts until it answers; what the model wrote is one sequence', async () => {
    const says = [call('add', { a: 1, b: 2 }), `so far 3. ${call('add', { a: 3 })}`, '4']
    const { agent, model } = await agentOf(says, { tools: [add], system: 'Add.' })
    expect(await agent.reply('1 + 2 + 1?')).toEqual({ text: '4', end: 'answer', steps: 3, calls: 2, failedCalls: 0 })
    expect(agent.memory.map(({ role, content }) => [role, content])).toEqual([
      ['system', 'Add.'],
      ['user', '1 + 2 + 1?'],
      ['assistant', null],
      ['tool', '3'],
      ['assistant', 'so far 3.'],
      ['tool', '4'],
      ['assistant', '4'],
    ])
    const experiences = model.toExperiences()
    expect(experiences.map(written)).toEqual([`${says.join('<|end|>')}<|end|>`])
    expect(model.stats.divergences).toBe(0)
  })

  it('remembers what was said before', async () => {
    const { agent, prompts, model } = await agentOf(['one', 'two'])
    await agent.reply('first')
    expect(await agent.reply('second')).toMatchObject({ text: 'two', steps: 1 })
    expect(prompts[1]).toContain('<|user|>first<|end|><|assistant|>one<|end|><|user|>second')
    expect(model.toExperiences()).toHaveLength(1)
    const { agent: heir, prompts: heard } = await agentOf(['three'], { memory: agent.memory })
    await heir.reply('third')
    expect(heard[0]).toContain('two<|end|><|user|>third')
  })

  it('hands over a result in the form that was asked for', async () => {
    const finish = z.object({ result: z.number() })
    const says = [call('generate_response', { result: 'four' }), call('generate_response', { result: 4 })]
    const { agent, prompts } = await agentOf(says, { finish })
    expect(await agent.reply('2 + 2?')).toMatchObject({
      end: 'finish',
      result: { result: 4 },
      steps: 2,
      failedCalls: 1,
    })
    expect(prompts[1]).toMatch(/Error: result: .*number/)
  })

  it('stops after so many steps', async () => {
    const { agent, prompts } = await agentOf(Array(9).fill(call('add', { a: 1 })), { tools: [add], maxSteps: 3 })
    expect(await agent.reply('?')).toMatchObject({ end: 'steps', steps: 3, calls: 3 })
    expect(prompts).toHaveLength(3)
  })

  it.each([
    [call('sub', { a: 1 }), "there is no tool 'sub'; there are: add, fail"],
    [call('add', { a: 'x' }), 'a: '],
    [call('add', {}), 'a: '],
    [call('fail', {}), 'Error: it broke'],
  ])('tells the model what was wrong with %s', async (said, complaint) => {
    const fail = reactTool({
      name: 'fail',
      description: '',
      parameters: {},
      run: () => {
        throw new Error('it broke')
      },
    })
    const { agent, prompts } = await agentOf([said, 'sorry'], { tools: [add, fail] })
    expect(await agent.reply('?')).toMatchObject({ text: 'sorry', calls: 1, failedCalls: 1 })
    expect(prompts[1]).toContain(complaint)
  })

  it.each([true, false])(
    'runs the calls of one answer, at once: %s, and tells of them in their order',
    async (parallel) => {
      let running = 0
      let most = 0
      const wait = reactTool({
        name: 'wait',
        description: '',
        parameters: z.object({ ms: z.number() }),
        async run({ ms }) {
          most = Math.max(most, ++running)
          await new Promise((resolve) => setTimeout(resolve, ms))
          running--
          return `waited ${ms}`
        },
      })
      const both = call('wait', { ms: 20 }) + call('wait', { ms: 1 })
      const { agent } = await agentOf([both, 'done'], { tools: [wait], parallel })
      expect(await agent.reply('?')).toMatchObject({ steps: 2, calls: 2 })
      expect(most).toBe(parallel ? 2 : 1)
      const results = agent.memory.filter(({ role }) => role === 'tool')
      expect(results.map(({ content }) => content)).toEqual(['waited 20', 'waited 1'])
      expect(new Set(results.map(({ tool_call_id }) => tool_call_id)).size).toBe(2)
    },
  )

  it('ends with its rollout, also within a tool', async () => {
    const leaving = new AbortController()
    const hang = reactTool({
      name: 'hang',
      description: '',
      parameters: {},
      run: (_, { signal }) => {
        leaving.abort(new Error('time is up'))
        signal?.throwIfAborted()
      },
    })
    const { agent } = await agentOf([call('hang', {})], { tools: [hang], signal: leaving.signal })
    await expect(agent.reply('?')).rejects.toThrow('time is up')
  })

  it('refuses what cannot work', async () => {
    await expect(agentOf([], { tools: [add, add] })).rejects.toThrow("two tools 'add'")
    await expect(agentOf([], { maxSteps: 0 })).rejects.toThrow('maxSteps is 0')
  })
})
