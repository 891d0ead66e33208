import { describe, expect, it, vi } from 'vitest'
import { contextOf, modelOf, speaker, taskOf, text } from '../../test/support/workflow-kit.js'
import { MockEngine } from '../engine/mock/engine.js'
import { createExperience, type Experience } from '../experience/index.js'
import { rewardFns } from '../reward/index.js'
import type { WorkflowContext } from './context.js'
import { AuxiliaryModels, MultiTurnWorkflow, RewardPropagationWorkflow, ScalarReward, workflows } from './index.js'
import { scoreResponse } from './reward.js'
import { StepWiseRewardWorkflow } from './step-wise.js'
import { isWorkflowClass, repeatsItself } from './workflow.js'

/** Runs a registered workflow in a context, as a runner does. */
async function runNamed(name: string, context: WorkflowContext): Promise<Experience[]> {
  const entry = workflows.get(name)
  if (!isWorkflowClass(entry)) throw new Error(`${name} is a function`)
  const workflow = new entry({ ...context, task: { ...context.task, workflow: name } })
  return workflow.run()
}

async function answering(speech: Parameters<typeof speaker>[0], repeat = 1) {
  return modelOf(await speaker(speech), { n: repeat })
}

describe('simple_workflow', () => {
  it('the reward function of a task set is prepared once', async () => {
    const fn = rewardFns.get('accuracy_reward')
    const prepared = vi.spyOn(fn.args, 'safeParse')
    const rewardFnArgs = {}
    for (const truth of ['4', '5', '6']) {
      const task = taskOf({ rewardFn: 'accuracy_reward', rewardFnArgs, truth })
      const experience = createExperience({ tokens: [1, 2], responseText: '\\boxed{5}' })
      expect(await scoreResponse(task, experience)).toEqual({ accuracy: truth === '5' ? 1 : 0 })
    }
    expect(prepared).toHaveBeenCalledTimes(1)
    prepared.mockRestore()
  })

  it('samples all runs of a task in one call and scores each with the named reward', async () => {
    const model = await answering(() => ['<answer>4</answer>', '<answer>5</answer>', 'none'], 3)
    const task = taskOf({ rewardFn: 'accuracy_reward', rewardFnArgs: {}, taskDesc: '2 + 2', truth: '4' })
    const experiences = await runNamed('simple_workflow', contextOf(model, { task, run: 4, repeat: 3 }))
    expect(model.stats.calls).toBe(1)
    expect(experiences.map(({ eid }) => eid.run)).toEqual([4, 5, 6])
    expect(experiences.map(({ reward }) => reward)).toEqual([1, 0, 0])
    expect(experiences[0].metrics).toEqual({ accuracy: 1 })
  })

  it('sends system prompt, messages and the beginning of the answer', async () => {
    let seen = ''
    const model = await answering((prompt) => {
      seen = prompt
      return 'x'
    })
    const format = { system_prompt: 'be brief', reply_prefix: 'Sure' }
    const task = taskOf({ format, rewardFn: 'format_reward', taskDesc: [{ role: 'user', content: 'hi' }] })
    await runNamed('simple_workflow', contextOf(model, { task }))
    expect(seen).toBe('<|system|>be brief<|end|><|user|>hi<|end|><|assistant|>Sure')
  })

  it('never asks an empty question', async () => {
    const model = await answering(() => 'x')
    const task = taskOf({ taskDesc: undefined, raw: { question: 'q' }, format: { prompt_key: 'qestion' } })
    await expect(runNamed('simple_workflow', contextOf(model, { task }))).rejects.toMatchObject({
      code: 'task/column',
      hint: expect.stringContaining('format.prompt_key: question'),
    })
    expect(model.stats.calls).toBe(0)
  })

  it('needs a reward function, and says where to name one', async () => {
    const model = await answering(() => 'x')
    await expect(runNamed('simple_workflow', contextOf(model))).rejects.toMatchObject({
      code: 'reward/none',
      path: 'default_reward_fn_type',
    })
  })
})

describe('mathematics', () => {
  it('math_workflow: think and answer tags by default', async () => {
    const good = '<think>\n6 * 6\n</think>\n<answer>\n36\n</answer>'
    const model = await answering((prompt) => (prompt.includes('<think>') ? [good, '36'] : 'no'), 2)
    const task = taskOf({ taskDesc: '6 * 6?', truth: 'six times six #### 36' })
    const experiences = await runNamed('math_workflow', contextOf(model, { task, repeat: 2 }))
    expect(experiences.map(({ reward }) => Math.round(reward! * 10) / 10)).toEqual([1.1, 0.9])
  })

  it('math_boxed_workflow: a box; cut answers are not trained on; base models get plain text', async () => {
    const model = modelOf(await speaker(() => 'it is \\boxed{36}'), {
      limits: { maxModelLen: 4096, maxResponseTokens: 12 },
    })
    const task = taskOf({ truth: '36', workflowArgs: { use_base: true } })
    const [cut] = await runNamed('math_boxed_workflow', contextOf(model, { task }))
    expect(cut.promptText).toMatch(/^System:\n.*boxed.*\n\nUser:\nquestion\n\nAssistant:\n$/s)
    expect(cut).toMatchObject({ truncateStatus: 'response_truncated', reward: 0 })
    expect([...cut.actionMask].some(Boolean)).toBe(false)
    const [whole] = await runNamed('math_boxed_workflow', contextOf(await answering(() => '\\boxed{36}'), { task }))
    expect(whole.reward).toBe(1)
  })

  it('math_eval_workflow: fixed sampling, accuracy, no reward', async () => {
    let temperature = 0
    const model = await answering((_, { params }) => {
      temperature = params.temperature
      return 'The answer is \\boxed{7}'
    })
    const task = taskOf({ raw: { question: '3 + 4?' }, truth: '7' })
    const [experience] = await runNamed('math_eval_workflow', contextOf(model, { task }))
    expect(experience.metrics).toEqual({ accuracy: 1 })
    expect([experience.reward, temperature]).toEqual([undefined, 0.6])
  })

  it('refuses arguments it does not know', async () => {
    const task = taskOf({ workflowArgs: { with_thinking: true } })
    const model = await answering(() => 'x')
    await expect(runNamed('math_boxed_workflow', contextOf(model, { task }))).rejects.toMatchObject({
      code: 'args/invalid',
      path: 'workflow_args.with_thinking',
      hint: 'did you mean with_think?',
    })
  })

  it('CountDown by reward name', async () => {
    const model = await answering(() => '<think>…</think>\n<answer>(44 + 19) + 35</answer>')
    const task = taskOf({ rewardFn: 'countdown_reward', truth: { target: 98, numbers: [44, 19, 35] } })
    const [experience] = await runNamed('math_workflow', contextOf(model, { task }))
    expect(experience.reward).toBe(1)
  })
})

describe('auxiliary models', () => {
  const auxiliary = async (speech: Parameters<typeof speaker>[0]) =>
    new AuxiliaryModels([{ name: 'judge', chat: await answering(speech) }])

  it('math_rm_workflow: a reward model with a scalar head', async () => {
    const engine = new MockEngine({ vocabSize: text.tokenizer.vocabSize, reward: (tokens) => tokens.length })
    const reward = await engine.openReward({ path: 'rm' }, { seq: 1, deadlineMs: 1000 })
    const scalar = new ScalarReward(reward, text, new AbortController().signal, 1000)
    const models = new AuxiliaryModels([{ name: 'rm', reward: scalar }])
    const task = taskOf({ workflowArgs: { reward_model: 'rm' }, format: { system_prompt: 's' } })
    const context = contextOf(await answering(() => 'answer'), { task, auxiliary: models })
    const [experience] = await runNamed('math_rm_workflow', context)
    expect(experience.reward).toBe(
      text.tokenizer.encode('<|system|>s<|end|><|user|>question<|end|><|assistant|>answer<|end|>').length,
    )
    expect(() => models.chat('rm')).toThrow(/reward model/)
    expect(() => models.chat('rn')).toThrow(/no auxiliary model/)
  })

  it('rubric_judge_workflow: a tenth of the rating; without one there is no reward', async () => {
    const raw = { rubric: [{ description: 'is polite', weight: 2 }] }
    const context = contextOf(await answering(() => 'please'), {
      task: taskOf({ raw }),
      auxiliary: await auxiliary((prompt) => (prompt.includes('is polite') ? 'fine {"rating": 8}' : '?')),
    })
    const [good] = await runNamed('rubric_judge_workflow', context)
    expect(good).toMatchObject({ reward: 0.8, metrics: { judge_success: 1, rubric_score: 0.8 } })
    const odd = { ...context, model: await answering(() => 'please'), auxiliary: await auxiliary(() => 'well { done') }
    const [without] = await runNamed('rubric_judge_workflow', odd)
    expect([without.reward, without.metrics.judge_success]).toEqual([undefined, 0])
  })

  it('math_ruler_workflow: one verdict over all answers', async () => {
    const model = await answering(() => ['<answer>1</answer>', '<answer>2</answer>'], 2)
    const context = contextOf(model, {
      task: taskOf({ truth: '2' }),
      repeat: 2,
      auxiliary: await auxiliary(() => 'I say [0.25, 1.5]'),
    })
    const experiences = await runNamed('math_ruler_workflow', context)
    expect(experiences.map(({ reward }) => reward)).toEqual([0.25, 1])
    expect(experiences.map(({ metrics }) => metrics.gold_reward > 0)).toEqual([false, true])
  })

  it('on_policy_distill_workflow: log-probs of the teacher for every token of the answer', async () => {
    const context = contextOf(await answering(() => 'abc'), { auxiliary: await auxiliary(undefined) })
    const [experience] = await runNamed('on_policy_distill_workflow', context)
    expect(experience.teacherLogprobs).toHaveLength(4)
    expect(experience.reward).toBe(0)
    // Both models are fresh: they agree.
    expect(experience.metrics.kl_divergence).toBeCloseTo(0, 5)
    expect(experience.teacherLogprobs![0]).toBeCloseTo(experience.logprobs![0], 5)
  })
})

describe('thinking_budget_workflow', () => {
  const run = async (speech: Parameters<typeof speaker>[0], workflowArgs: Record<string, unknown>) => {
    const model = modelOf(await speaker(speech), { limits: { maxModelLen: 4096, maxResponseTokens: 40 } })
    const [experience] = await runNamed(
      'thinking_budget_workflow',
      contextOf(model, { task: taskOf({ workflowArgs }) }),
    )
    const written = [...experience.tokens.subarray(experience.promptLength)].filter((_, i) => experience.actionMask[i])
    return { experience, written: text.tokenizer.decode(written) }
  }

  it('ends the thinking at the budget and does not train on the end it put there', async () => {
    const speech = (prompt: string) => (prompt.includes('</think>') ? 'so 4' : '<think>hmm hmm hmm hmm hmm')
    const { experience, written } = await run(speech, { thinking_token_budget: 10 })
    expect(experience.responseText).toBe('<think>hmm\n</think>\n\nso 4<|end|>')
    expect(written).toBe('<think>hmmso 4')
    expect(experience.metrics.thinking_cut).toBe(1)
  })

  it('leaves thinking alone that ends in time', async () => {
    const { experience, written } = await run(() => '<think>a</think>4', { thinking_token_budget: 30 })
    expect(written).toBe('<think>a</think>4')
    expect(experience.metrics.thinking_cut).toBe(0)
  })

  it('no budget: no thinking at all', async () => {
    const { experience, written } = await run(() => '4', { thinking_token_budget: 0 })
    expect(experience.promptText?.endsWith('<|assistant|>\n</think>\n\n')).toBe(true)
    expect(written).toBe('4')
  })
})

describe('classes to extend', () => {
  class Guess extends MultiTurnWorkflow {
    async play() {
      const messages = [{ role: 'user', content: 'guess' }]
      for (let turn = 0; turn < 3; turn++) {
        const [answer] = await this.model.chat(messages)
        messages.push({ role: 'assistant', content: answer.responseText! }, { role: 'user', content: 'higher' })
      }
      return { reward: 0.5, info: { turns: 3, name: 'n' } }
    }
  }
  class Steps extends StepWiseRewardWorkflow {
    maxSteps = 5
    async step(step: number) {
      await this.model.chat([{ role: 'user', content: `step ${step}` }])
      return step < 2
    }
    reward(_: readonly Experience[], step: number) {
      return step * 10
    }
  }
  class Late extends RewardPropagationWorkflow {
    maxSteps = 2
    async step(step: number) {
      await this.model.chat([{ role: 'user', content: `step ${step}` }])
      return true
    }
    reward(all: readonly Experience[]) {
      return all.length
    }
  }

  it('MultiTurnWorkflow: one experience, masked, with the outcome', async () => {
    const [whole, ...more] = await new Guess(contextOf(await answering(() => '7'))).run()
    expect(more).toEqual([])
    expect(whole).toMatchObject({ type: 'multi_turn', reward: 0.5, metrics: { turns: 3 }, info: { name: 'n' } })
    expect(whole.actionMask.filter(Boolean)).toHaveLength(6)
  })

  it('MultiTurnWorkflow: an answer that was cut off earns 0, unless there is nothing to earn', async () => {
    class Silent extends MultiTurnWorkflow {
      async play() {
        await this.model.chat([{ role: 'user', content: 'guess' }])
        return { info: { turns: 1 } }
      }
    }
    class Earning extends MultiTurnWorkflow {
      async play() {
        await this.model.chat([{ role: 'user', content: 'guess' }])
        return 1
      }
    }
    const cut = async () =>
      modelOf(await speaker(() => 'a long answer'), { limits: { maxModelLen: 4096, maxResponseTokens: 4 } })
    const [silent] = await new Silent(contextOf(await cut())).run()
    expect(silent.truncateStatus).toBe('response_truncated')
    expect(silent.reward).toBeUndefined()
    const [earning] = await new Earning(contextOf(await cut())).run()
    expect(earning).toMatchObject({ truncateStatus: 'response_truncated', reward: 0 })
  })

  it('StepWiseRewardWorkflow and RewardPropagationWorkflow: an experience per step', async () => {
    const steps = await new Steps(contextOf(await answering(() => 'ok'))).run()
    expect(steps.map(({ eid, reward }) => [eid.step, reward])).toEqual([
      [0, 0],
      [1, 10],
      [2, 20],
    ])
    const late = await new Late(contextOf(await answering(() => 'ok'))).run()
    expect(late.map(({ eid, reward }) => [eid.step, reward])).toEqual([
      [0, 2],
      [1, 2],
    ])
    expect(late[0].metrics.actual_env_steps).toBe(2)
  })

  it('only workflows that say so repeat themselves', () => {
    expect(repeatsItself(workflows.get('async_simple_workflow'))).toBe(true)
    expect(repeatsItself(workflows.get('grid_world_workflow'))).toBe(false)
    expect(repeatsItself(Guess)).toBe(false)
    expect(() => workflows.get('math_workflo')).toThrow(/unknown workflow/)
  })
})
