import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { contextOf, modelOf, speaker, taskOf } from '../../../test/support/workflow-kit.js'
import { AuxiliaryModels } from '../auxiliary.js'
import { ReactSearchWorkflow } from './search.js'

const search_command = `${process.execPath} ${join(import.meta.dirname, 'fixture/mcp-server.mjs')}`
const search = '<tool_call>{"name": "search", "arguments": {"query": "height of K2"}}</tool_call>'

async function play(says: readonly string[], verdict: string, args: Record<string, unknown> = {}) {
  const asked: string[] = []
  let said = 0
  const model = modelOf(await speaker(() => says[said++] ?? 'out of words'))
  const judge = modelOf(await speaker((prompt) => (asked.push(prompt) > 0 ? verdict : '')))
  const auxiliary = new AuxiliaryModels([{ name: 'judge', chat: judge }])
  const task = taskOf({ taskDesc: 'How high is K2?', truth: '8611 m', workflowArgs: { search_command, ...args } })
  const experiences = await new ReactSearchWorkflow(contextOf(model, { task, auxiliary })).run()
  return { experiences, asked }
}

describe('agentscope_v1_react_search_workflow', () => {
  it.each([
    ['They agree.\nCorrectness: YES', 1],
    ['**Correctness**: no', 0],
    ['I cannot say.', undefined],
  ])('searches, answers, and is judged: %s', async (verdict, reward) => {
    const { experiences, asked } = await play([search, '8,611 meters'], verdict)
    expect(experiences).toHaveLength(1)
    expect(experiences[0].reward).toBe(reward)
    expect(JSON.stringify(experiences[0].messages)).toContain('found height of K2')
    expect(asked[0]).toMatch(/How high is K2\?[\s\S]*8611 m[\s\S]*8,611 meters/)
  })

  it('without an answer within its turns there is nothing to judge', async () => {
    const { experiences, asked } = await play(Array(9).fill(search), 'Correctness: YES', { max_turns: 2 })
    expect(experiences).toMatchObject([{ reward: 0, metrics: { react_steps: 2 } }])
    expect(asked).toEqual([])
  })

  it('does not train on sequences that are too long', async () => {
    const given = play(['8,611 meters'], 'Correctness: YES', { max_model_tokens: 20 })
    await expect(given).rejects.toThrow('more than 20 tokens')
  })

  it('says what is missing', async () => {
    const given = play([], '', { search_command: undefined, search_client_type: 'tavily' })
    await expect(given).rejects.toThrow('TAVILY_API_KEY is not set')
    const task = taskOf({ workflowArgs: { search_command } })
    const alone = new ReactSearchWorkflow(contextOf(modelOf(await speaker(() => '')), { task }))
    await expect(alone.run()).rejects.toThrow('no auxiliary model')
  })
})
