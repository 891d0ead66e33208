import { expect, it } from 'vitest'
import { contextOf, modelOf, speaker, taskOf } from '../../../test/support/workflow-kit.js'
import { AuxiliaryModels } from '../auxiliary.js'
import { workflows } from '../registry.js'
import { Learn2AskWorkflow } from './learn2ask.js'

const taskDesc = [
  { role: 'user', content: 'My head hurts.' },
  { role: 'assistant', content: 'Since when?' },
  { role: 'user', content: 'Since Monday.' },
]
const VERDICT = 'near <content_score>0.5</content_score> <format_score>1</format_score>'

async function run(raw: Record<string, unknown>, said: string, workflowArgs = {}, verdict = VERDICT) {
  const seen: string[] = []
  const speech = (text: string) => (prompt: string) => {
    seen.push(prompt)
    return text
  }
  const auxiliary = new AuxiliaryModels([{ name: 'judge', chat: modelOf(await speaker(speech(verdict))) }])
  const task = taskOf({ raw, taskDesc, workflowArgs })
  const context = contextOf(modelOf(await speaker(speech(said))), { task, auxiliary })
  const [experience] = await new Learn2AskWorkflow(context).run()
  return { experience, seen }
}

it('a question where one is due is rated by the judge, who knows what is wanted', async () => {
  const { experience, seen } = await run({ decision_truth: 'continue', info_truth: 'fever' }, 'Any fever?')
  expect(experience).toMatchObject({
    reward: 3,
    metrics: { action_score: 1, content_score: 0.5, format_score: 1, judge_success: 1 },
  })
  expect(seen[0]).toContain('<stop />')
  expect(seen[1]).toContain('fever')
  expect(seen[1]).toContain('patient: My head hurts.\ndoctor: Since when?\npatient: Since Monday.\ndoctor: Any fever?')
})

it.each<[{ fusion_mode?: string; train_mode?: string }, number]>([
  [{ fusion_mode: 'sum' }, 2.5],
  [{ train_mode: 'Ra' }, 2],
  [{ train_mode: 'Rs' }, 4],
])('%o fuses the scores to %d', async (args, reward) => {
  const { experience, seen } = await run({}, 'Any fever?', args)
  expect(experience.reward).toBe(reward)
  expect(seen[0].includes('<stop />')).toBe(args.train_mode !== 'Ra')
})

it('the end of asking needs no judge; the wrong decision earns nothing', async () => {
  const stop = { decision_truth: 'stop' }
  expect((await run(stop, '<stop />')).experience.reward).toBe(4)
  expect((await run(stop, 'Thanks. <stop />')).experience.reward).toBe(3)
  const wrong = await run(stop, 'Any fever?')
  expect([wrong.experience.reward, wrong.seen.length]).toEqual([0, 1])
  expect((await run({}, '<stop />')).experience.reward).toBe(0)
})

it.each(['', '<content_score>0.5</content_score>', VERDICT.replace('0.5', '7'), VERDICT.replace('0.5', '0.5.5')])(
  'a judge who says %s gives no reward',
  async (verdict) => {
    const { experience } = await run({}, 'Any fever?', {}, verdict)
    expect([experience.reward, experience.metrics]).toEqual([undefined, { judge_success: 0 }])
  },
)

it('is found by the path of its class', () => {
  const path = 'examples.learn_to_ask.workflow.workflow_learn2ask.Learn2AskWorkflow'
  expect(workflows.get(path)).toBe(Learn2AskWorkflow)
})
