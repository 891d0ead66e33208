import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { contextOf, modelOf, speaker, taskOf, text } from '../../../test/support/workflow-kit.js'
import type { Experience } from '../../experience/index.js'
import { ChatTemplate } from '../../model/index.js'
import { EnvironmentWorkflow } from '../environment/concatenated.js'
import { StepWiseEnvironmentWorkflow } from '../environment/step-wise.js'
import { isReflection, learned } from './kit.fixture.js'
import { studyWorkflows } from './names.js'
import { report } from './report.fixture.js'

/** Drops what was thought in earlier turns, as the templates of some models do: every turn is a sequence of its own. */
const forgetful = {
  tokenizer: text.tokenizer,
  template: new ChatTemplate(
    "{% for m in messages %}<|{{ m.role }}|>{{ m.content.split('/')[-1] if m.role == 'assistant' else m.content }}<|end|>{% endfor %}" +
      '{% if add_generation_prompt %}<|assistant|>{% endif %}',
    text.tokenizer.specialTokens,
  ),
}

const MOVES = ['left', 'right', 'hm/left', 'so: a/right', 'up, then left', 'what?']
const environment_args = { prompt: 'brief', max_position: 6 }
const MOST = 8

interface Played {
  readonly base: readonly string[]
  readonly retry: readonly string[]
  readonly pivot: number
  readonly advice: string
  readonly seed: number
}

const played: fc.Arbitrary<Played> = fc.record({
  base: fc.array(fc.constantFrom(...MOVES), { minLength: MOST, maxLength: MOST }),
  retry: fc.array(fc.constantFrom(...MOVES), { minLength: MOST, maxLength: MOST }),
  pivot: fc.nat(MOST - 1),
  advice: fc.string({ minLength: 4, maxLength: 30 }).map((said) => `LEAK ${said}`),
  seed: fc.nat(50),
})

async function sayAll(says: (prompt: string) => string, template: typeof text) {
  const sampler = await speaker(says, { maxModelLen: 100_000 })
  return modelOf(sampler, { text: template, limits: { maxModelLen: 100_000, truncatePrompts: true } })
}

const taskFor = (seed: number, more: object = {}) =>
  taskOf({
    raw: { seed },
    taskId: 1,
    repeatTimes: 4,
    workflowArgs: { environment: 'number_line', environment_args, max_env_steps: MOST, ...more },
  })

/** The workflow, with a model that reflects as it is told. */
async function retried(
  { base, retry, pivot, advice, seed }: Played,
  template: typeof text,
  args: object,
  name = 'R3L_environment_workflow',
) {
  let [steps, isRetry] = [0, false]
  const says = (prompt: string) => {
    if (!isReflection(prompt)) return (isRetry ? retry : base)[steps++]
    const retry_from_step = Math.min(pivot, steps - 1)
    ;[steps, isRetry] = [retry_from_step, true]
    return report({ retry_from_step, improvement_suggestion: advice })
  }
  const model = await sayAll(says, template)
  const task = taskFor(seed, { reflect_on: 'all', imitate: 'never', ...args })
  const workflow = new studyWorkflows[name](contextOf(model, { task }))
  const experiences = await workflow.run()
  await workflow.close()
  return experiences
}

/** The same words from somebody who was never told anything. */
async function untold(replies: readonly string[], seed: number, template: typeof text, byStep = false) {
  let steps = 0
  const model = await sayAll(() => replies[steps++], template)
  const workflow = byStep
    ? new StepWiseEnvironmentWorkflow(contextOf(model, { task: taskFor(seed, { history: null, reward: 'final' }) }))
    : new EnvironmentWorkflow(contextOf(model, { task: taskFor(seed) }))
  const experiences = await workflow.run()
  await workflow.close()
  return experiences
}

const sequence = ({ tokens, promptLength, actionMask }: Experience) => ({
  tokens: [...tokens],
  promptLength,
  mask: [...actionMask],
})

/** Neither in the tokens nor in what is written down beside them. */
function expectNoLeak(experiences: readonly Experience[]): void {
  for (const { tokens, ...rest } of experiences) {
    expect(text.tokenizer.decode(tokens)).not.toContain('LEAK')
    expect(JSON.stringify(rest)).not.toContain('LEAK')
  }
}

describe.each([
  ['a template that keeps everything', text, 1],
  ['a template that forgets thoughts', forgetful as typeof text, MOST],
])('with %s', (_, template, most) => {
  it('a retry is learned token by token as if nothing had been said to it', { timeout: 60_000 }, async () => {
    let sequences = 0
    await fc.assert(
      fc.asyncProperty(played, async (one) => {
        const experiences = await retried(one, template, { credit: 'none' })
        const second = experiences.filter(({ eid }) => eid.run === 4)
        const pivot = second[0].metrics.pivot_point
        const alone = await untold([...one.base.slice(0, pivot), ...one.retry.slice(pivot)], one.seed, template)
        expect(second.map(sequence)).toEqual(alone.map(sequence))
        sequences = Math.max(sequences, second.length)
        expectNoLeak(second)
      }),
      { numRuns: 12 },
    )
    expect(sequences > 1).toBe(most > 1)
  })

  it('and so step by step', { timeout: 60_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(played, async (one) => {
        const experiences = await retried(one, template, {}, 'step_wise_R3L_environment_workflow')
        const second = experiences.filter(({ eid }) => eid.run === 4)
        const pivot = second[0].metrics.pivot_point
        const replies = [...one.base.slice(0, pivot), ...one.retry.slice(pivot)]
        const alone = (await untold(replies, one.seed, template, true)).slice(pivot)
        expect(second.map(sequence)).toEqual(alone.map(sequence))
        expect(second.map(({ reward, eid }) => [reward, eid.step])).toEqual(
          alone.map(({ reward, eid }) => [reward, eid.step]),
        )
        expectNoLeak(second)
      }),
      { numRuns: 6 },
    )
  })

  it('with credit, neither attempt learns a step before the pivot', { timeout: 60_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(played, async (one) => {
        const all = await retried(one, template, { credit: 'none' })
        const cut = await retried(one, template, {})
        for (const run of [0, 4]) {
          const [whole, part] = [all, cut].map((list) => list.filter(({ eid }) => eid.run === run))
          const pivot = all.find(({ eid }) => eid.run === 4)!.metrics.pivot_point
          expect(part.flatMap(learned)).toEqual(whole.flatMap(learned).slice(pivot))
        }
      }),
      { numRuns: 6 },
    )
  })
})
