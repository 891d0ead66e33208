import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { contextOf, modelOf, type Speech, speaker, taskOf } from '../../../test/support/workflow-kit.js'
import { AuxiliaryModels } from '../auxiliary.js'
import { worldWorkflows } from './worlds.js'

const { email_search_workflow: EmailSearch } = worldWorkflows
const mail = {
  message_id: '<a>',
  date: '2001-05-14 09:30:00',
  subject: 'Budget',
  from: 'ann@x',
  to: ['bob@x'],
  body: 'It is 40 dollars.',
}
const raw = {
  ...{ id: 1, question: 'How large is the budget?', answer: '40 dollars', message_ids: ['<a>'], how_realistic: 1 },
  ...{ inbox_address: 'ann@x', query_date: '2001-06-01' },
}
const call = (name: string, args: object) =>
  `I try it.\n<tool_call>\n${JSON.stringify({ name, arguments: args })}\n</tool_call>`
const SEARCH = call('search_emails', { inbox_address: 'ann@x', query_date: '2001-06-01', keywords: ['budget'] })
const answer = (text: string) => call('generate_response', { answer: text, sources: ['<a>'] })

let dir: string
let database: string
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'trinity-mail-'))
  database = join(dir, 'mails.jsonl')
  await writeFile(database, JSON.stringify(mail))
})
afterAll(() => rm(dir, { recursive: true, force: true }))

async function run(replies: string[], judge?: Speech, more = {}, rewardFnArgs = {}) {
  const prompts: string[] = []
  const says = (prompt: string) => {
    prompts.push(prompt)
    return replies[(prompts.length - 1) % replies.length]
  }
  const limits = { maxModelLen: 50_000, truncatePrompts: true }
  const model = modelOf(await speaker(says), { limits })
  const chat = judge && modelOf(await speaker(judge), { limits })
  const auxiliary = new AuxiliaryModels(chat ? [{ name: 'judge', chat }] : [])
  const task = taskOf({
    ...{ raw, taskDesc: raw.question, truth: raw.answer, workflow: 'email_search_workflow', rewardFnArgs },
    workflowArgs: { database, ...more },
  })
  const workflow = new EmailSearch(contextOf(model, { task, auxiliary }))
  const steps = await workflow.run()
  await workflow.close()
  return { steps, prompts }
}

describe('email_search_workflow', () => {
  it('gives each turn the reward of the whole, as the judge says it', async () => {
    const asked: string[] = []
    const judge = (prompt: string) => {
      asked.push(prompt)
      return 'true'
    }
    const { steps, prompts } = await run([SEARCH, answer('forty dollars')], judge)
    expect(steps.map(({ reward }) => reward)).toEqual([expect.closeTo(2.48, 9), expect.closeTo(2.48, 9)])
    expect(steps.map(({ eid }) => eid.step)).toEqual([0, 1])
    expect(steps[1].metrics).toMatchObject({
      accuracy: 1,
      format: expect.closeTo(1.48, 9),
      actual_turns: 2,
      judge_success: 1,
    })
    expect(asked[0]).toContain('Reference answer: 40 dollars\nAI answer: forty dollars')
    expect(prompts[0]).toContain("User's email address is ann@x\nToday's date is 2001-06-01")
    expect(prompts[0]).toContain('up to 10 turns')
    expect(prompts[1]).toContain(
      '<|user|><tool_response>\n[{"message_id": "<a>", "snippet": "<b>Budget</b>"}]\n</tool_response><|end|>',
    )
    expect(prompts[1]).toContain(SEARCH)
  })

  it('a wrong answer loses, and the judge decides', async () => {
    const { steps } = await run([SEARCH, answer('40 dollars')], () => 'accept: **False**')
    // Found and cited, never read.
    expect(steps[0]).toMatchObject({ reward: expect.closeTo(-0.8, 9), metrics: { accuracy: -1 } })
  })

  it('a judge without a verdict gives no reward', async () => {
    const { steps } = await run([answer('40 dollars')], () => 'maybe')
    expect(steps[0].reward).toBeUndefined()
    expect(steps[0].metrics.judge_success).toBe(0)
  })

  it('without a judge the words of the answer count', async () => {
    expect((await run([answer('It is 40 dollars')])).steps[0]).toMatchObject({
      reward: 1,
      metrics: { accuracy: 1, format: 0 },
    })
    expect((await run([answer('50 dollars')])).steps[0]).toMatchObject({ reward: 0 })
    const unasked = () => {
      throw new Error('nobody asked')
    }
    const { steps } = await run([answer('40 dollars')], unasked, {}, { llm_as_a_judge: false })
    expect(steps[0].reward).toBe(1)
  })

  it('without an answer it is worth −1, whatever was said', async () => {
    for (const reply of ['hm', SEARCH, '<tool_call>{</tool_call>']) {
      const { steps } = await run([reply], () => 'true', { max_turns: 3 })
      expect(steps.map(({ reward }) => reward)).toEqual([-1, -1, -1])
      expect(steps[0].metrics).toMatchObject({ accuracy: 0, format: -1, actual_turns: 3 })
    }
  })

  it("has the original's arguments", () => {
    expect(EmailSearch.args?.parse({})).toEqual({
      ...{ max_turns: 10, tool_obs_char_limit: 2000, unknown_is_wrong: false, judge_model: 0 },
    })
    expect(() => EmailSearch.args?.parse({ turns: 3 })).toThrow('turns')
  })
})
