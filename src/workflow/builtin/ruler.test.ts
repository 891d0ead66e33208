import { expect, it } from 'vitest'
import { contextOf, modelOf, speaker, taskOf } from '../../../test/support/workflow-kit.js'
import { Pcg64 } from '../../base/random/index.js'
import { MathTrainableRulerWorkflow } from './ruler.js'
import { scoresIn } from './verdict.js'

const RIGHT = '<think>\n1\n</think>\n<answer>\n2\n</answer>'

/** The first random number is what decides whether the right answer counts. */
const seedWith = (test: (first: number) => boolean) => {
  for (let seed = 0; ; seed++) if (test(new Pcg64(seed).random())) return seed
}
const GOLD = seedWith((first) => first < 0.2)
const BLIND = seedWith((first) => first >= 0.2)

async function run(seed: number, verdicts: string[], isEval = false) {
  const prompts: string[] = []
  const speech = await speaker((prompt) => {
    prompts.push(prompt)
    return prompt.includes('You compare') ? verdicts : [RIGHT, 'none']
  })
  const task = taskOf({ truth: '2', taskId: 5, isEval })
  const context = contextOf(modelOf(speech, { n: 2 }), { task, run: 4, repeat: 2, random: new Pcg64(seed) })
  return { experiences: await new MathTrainableRulerWorkflow(context).run(), prompts }
}

it('with the right answer: gold rewards, and verdicts that are rewarded by how near they come', async () => {
  const { experiences, prompts } = await run(GOLD, ['I say [1, 0.5]', 'no idea'])
  expect(experiences.map(({ reward }) => reward)).toEqual([1.1, -0.1, expect.closeTo(0.75), 0])
  expect(experiences.map(({ eid }) => [eid.task, eid.run])).toEqual([
    ['', 4],
    ['', 5],
    ['5-ruler', 4],
    ['5-ruler', 5],
  ])
  expect(experiences[0].metrics).toMatchObject({ gold_reward: 1.1, judge_success: 0.5 })
  expect(experiences[2].metrics).toEqual({ judge_success: 1, reward_for_judger: expect.closeTo(0.75) })
  expect(prompts[1]).not.toContain('right answer is known')
})

it('without it: its own scores, or no reward where it gives none', async () => {
  const { experiences } = await run(BLIND, ['[0.25, 3]'])
  expect(experiences.map(({ reward }) => reward)).toEqual([0.25, 1])
  expect(experiences[0].metrics.gold_reward).toBe(1.1)
  const { experiences: without } = await run(BLIND, ['[0.25]'])
  expect(without.map(({ reward, metrics }) => [reward, metrics.judge_success])).toEqual([
    [undefined, 0],
    [undefined, 0],
  ])
})

it('evaluation looks at the right answer alone', async () => {
  const { experiences, prompts } = await run(BLIND, ['[0, 1]'], true)
  expect(experiences.map(({ reward }) => reward)).toEqual([1.1, -0.1])
  expect(prompts).toHaveLength(1)
})

it('reads a verdict of brackets alone in linear time', () => {
  const begun = process.cpuUsage()
  expect(scoresIn('['.repeat(30_000) + ']'.repeat(30_000), 2)).toBeUndefined()
  expect(process.cpuUsage(begun).user).toBeLessThan(5e6)
})

it.each(['', '[', ']', '[1, 2, 3]', '[null, 1]', '[[1], 1]', '[1, "x"]', `${'['.repeat(5000)}`, '[true, 1]'])(
  '%s is no verdict over two answers',
  (text) => expect(scoresIn(text, 2)).toBeUndefined(),
)
