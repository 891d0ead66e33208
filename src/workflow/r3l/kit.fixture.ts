import { contextOf, modelOf, speaker, taskOf, text } from '../../../test/support/workflow-kit.js'
import { HOUSES, rowOf } from '../../environment/alfworld/house.fixture.js'
import type { Experience } from '../../experience/index.js'
import type { Task } from '../../task/index.js'
import type { WorkflowContext } from '../context.js'
import { studyWorkflows } from './names.js'

/** The way to the goal in the house with the lamp. */
export const WAY = ['go to bed 1', 'take book 2 from bed 1', 'go to desk 1', 'use desklamp 1']
export const act = (action: string) => `<think>so</think><action>${action}</action>`

export const isReflection = (prompt: string) => prompt.includes('You reflect on what an agent did')

/** What a scripted model says: replies in turn, and what it says where it is asked to think. */
export interface Script {
  readonly replies: readonly string[]
  readonly thoughts?: readonly string[]
  readonly about?: (prompt: string) => boolean
}

/** Runs a workflow of the study against a script; by default in the house with the lamp. */
export async function run(
  name: string,
  { replies, thoughts = [], about = isReflection }: Script,
  args: Record<string, unknown> = {},
  given: Partial<Task> & { context?: Partial<WorkflowContext> } = {},
) {
  const [said, thought] = [[...replies], [...thoughts]]
  const prompts: string[] = []
  const says = (prompt: string) => {
    prompts.push(prompt)
    return (about(prompt) ? thought.shift() : said.shift()) ?? 'nothing more to say'
  }
  const sampler = await speaker(says, { maxModelLen: 120_000 })
  const { context, ...rest } = given
  const model = modelOf(sampler, { limits: { maxModelLen: 120_000, truncatePrompts: true } })
  const task = taskOf({
    raw: rowOf(HOUSES[5]),
    workflow: name,
    workflowArgs: args,
    taskId: 7,
    repeatTimes: 8,
    ...rest,
  })
  const workflow = new studyWorkflows[name](contextOf(model, { task, ...context }))
  try {
    return { experiences: await workflow.run(), prompts, model, left: said.length }
  } finally {
    await workflow.close()
  }
}

/** What is learned of an experience, turn by turn. */
export function learned({ tokens, promptLength, actionMask }: Experience): string[] {
  const turns: number[][] = []
  actionMask.forEach((on, i) => {
    if (!on) return
    if (!actionMask[i - 1]) turns.push([])
    turns[turns.length - 1].push(tokens[promptLength + i])
  })
  return turns.map((turn) => text.tokenizer.decode(Int32Array.from(turn)))
}
