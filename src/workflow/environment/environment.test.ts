import fc from 'fast-check'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { resolve } from '../../../test/config-kit.js'
import { contextOf, modelOf, speaker, taskOf } from '../../../test/support/workflow-kit.js'
import type { ConfigError } from '../../config/index.js'
import { type Environment, environment, environments } from '../../environment/index.js'
import type { Experience } from '../../experience/index.js'
import type { RolloutModelParts } from '../index.js'
import { workflows } from '../registry.js'
import { argsOf, isWorkflowClass } from '../workflow.js'

/** A stair of so many steps: `<climb>` goes up, everything else in brackets stays. */
const log: string[] = []
environments.add(
  'stair',
  environment({
    doc: 'a stair',
    args: z.strictObject({ height: z.number().int().default(3), slow: z.boolean().default(false) }),
    maxSteps: 6,
    create({ height, slow }, { signal }): Environment {
      log.push(`open ${signal?.aborted}`)
      let at = 0
      return {
        reset: ({ row, seed }) => {
          at = Number(row.from ?? 0)
          log.push(`reset ${seed}`)
          return { observation: `at ${at}`, goal: `${height}` }
        },
        step: async (action, signal) => {
          if (slow) await new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))
          if (action === 'climb') at++
          const won = at === height
          return { observation: `at ${at}`, reward: at / 10, done: won, won, metrics: { at, 'climbed:sum': 1 } }
        },
        admissible: () => ['climb', 'wait'],
        close: () => void log.push('close'),
      }
    },
    persona: ({ height }) => ({
      system: ({ maxSteps }) => `climb ${height} in ${maxSteps}`,
      prompt: ({ observation, admissible }) => `${observation}: ${admissible?.join(' ')}`,
      action: (reply, { observation }) => /<(\w+)>/.exec(reply)?.[1] ?? { observation, reward: -1, done: false },
    }),
  }),
)
afterAll(() => void log.splice(0))

type Replies = readonly string[]
async function play(
  name: string,
  replies: Replies,
  workflowArgs: Record<string, unknown> = {},
  given: { raw?: Record<string, unknown>; model?: Partial<RolloutModelParts>; signal?: AbortSignal } = {},
): Promise<Experience[]> {
  const said = [...replies]
  const entry = workflows.get(name)
  if (!isWorkflowClass(entry)) throw new Error(`${name} is a class`)
  const model = modelOf(await speaker(() => said.shift() ?? 'hm'), given.model)
  const task = taskOf({
    raw: given.raw ?? {},
    workflow: name,
    index: { taskset: 0, row: 7 },
    workflowArgs: { environment: 'stair', ...workflowArgs },
  })
  log.splice(0)
  const workflow = new entry(contextOf(model, { task, ...(given.signal ? { signal: given.signal } : {}) }))
  try {
    return await workflow.run()
  } finally {
    await workflow.close()
  }
}

describe('environment_workflow', () => {
  it('makes one experience of an episode, masked to the replies', async () => {
    const replies = ['<climb>', 'what?', '<climb>', 'I <climb>']
    const [whole, ...more] = await play('environment_workflow', replies)
    expect(more).toEqual([])
    expect(whole).toMatchObject({
      type: 'multi_turn',
      info: { actual_env_steps: 4, success: 1, invalid_actions: 1, at: 2, 'climbed:sum': 3 },
      metrics: { actual_env_steps: 4, success: 1, invalid_actions: 1, at: 2, 'climbed:sum': 3 },
    })
    // 0.1 − 1 + 0.2 + 0.3
    expect(whole.reward).toBeCloseTo(-0.4)
    const { tokens, promptLength, actionMask } = whole
    const bytes = replies.reduce((sum, reply) => sum + reply.length + 1, 0)
    expect(actionMask.reduce((sum, one) => sum + one, 0)).toBe(bytes)
    expect(tokens.length).toBe(promptLength + actionMask.length)
    expect(whole.messages?.map(({ role }) => role)).toEqual([
      'system',
      ...['user', 'assistant', 'user', 'assistant', 'user', 'assistant', 'user', 'assistant'],
    ])
    expect(whole.messages?.[0].content).toBe('climb 3 in 6')
    expect(log).toEqual(['open false', 'reset 7', 'close'])
  })

  it('ends at the limit of steps, and the row chooses the episode', async () => {
    const [cut] = await play('environment_workflow', [], { max_env_steps: 2 })
    expect(cut).toMatchObject({ reward: -2, metrics: { actual_env_steps: 2, success: 0, invalid_actions: 2 } })
    const [short] = await play('environment_workflow', ['<climb>'], {}, { raw: { from: 2 } })
    expect(short).toMatchObject({ reward: expect.closeTo(0.3), metrics: { actual_env_steps: 1, success: 1 } })
  })

  it('ends where the conversation no longer fits, with what was earned', async () => {
    const limits = { maxModelLen: 4096, maxPromptTokens: 40, truncatePrompts: true }
    const [whole] = await play('environment_workflow', ['<climb>', '<climb>', '<climb>'], {}, { model: { limits } })
    expect(whole.truncateStatus).toBeUndefined()
    expect(whole.metrics).toMatchObject({ actual_env_steps: 1, success: 0 })
    expect(whole.reward).toBeCloseTo(0.1)
  })

  it('follows its signal in the middle of a step, and closes the environment', async () => {
    const control = new AbortController()
    const playing = play(
      'environment_workflow',
      ['<climb>'],
      { environment_args: { slow: true } },
      { signal: control.signal },
    )
    await vi.waitFor(() => expect(log).toContain('reset 7'))
    setTimeout(() => control.abort(new Error('time is up')), 30)
    await expect(playing).rejects.toThrow('time is up')
    expect(log).toEqual(['open false', 'reset 7', 'close'])
  })
})

describe('step_wise_environment_workflow', () => {
  const name = 'step_wise_environment_workflow'

  it('makes an experience of every step, each with its reward', async () => {
    const steps = await play(name, ['<climb>', 'hm', '<climb>', '<climb>'])
    expect(steps.map(({ reward }) => reward)).toEqual([0.1, -1, 0.2, 0.3])
    expect(steps.map(({ eid }) => eid.step)).toEqual([0, 1, 2, 3])
    expect(steps.map(({ info }) => info.env_state)).toEqual(['at 0', 'at 1', 'at 1', 'at 2'])
    expect(steps.map(({ metrics }) => metrics.at)).toEqual([1, undefined, 2, 3])
    for (const { metrics } of steps)
      expect(metrics).toMatchObject({ actual_env_steps: 4, success: 1, invalid_actions: 1 })
    expect(steps[2].promptText).toBe('<|system|>climb 3 in 6<|end|><|user|>at 1: climb wait<|end|><|assistant|>')
    expect(log.at(-1)).toBe('close')
  })

  it('reward: final gives every step what the episode was worth', async () => {
    const steps = await play(name, ['<climb>', '<climb>', '<climb>'], { reward: 'final' })
    expect(steps.map(({ reward }) => reward)).toEqual([0, 1, 2].map(() => expect.closeTo(0.6)))
    for (const { metrics } of steps) expect(metrics).toMatchObject({ actual_env_steps: 3, success: 1 })
    expect(log.at(-1)).toBe('close')
  })

  it('history puts earlier turns into the prompt: so many, or all', async () => {
    const users = async (history: number | null) =>
      (await play(name, ['<climb>', '<climb>', '<climb>'], { history })).map(
        ({ promptText }) => promptText?.match(/<\|user\|>/g)?.length,
      )
    expect(await users(0)).toEqual([1, 1, 1])
    expect(await users(1)).toEqual([1, 2, 2])
    expect(await users(null)).toEqual([1, 2, 3])
  })

  it('a prompt that does not fit ends the episode with a stand-in', async () => {
    const limits = { maxModelLen: 4096, maxPromptTokens: 40, truncatePrompts: true }
    for (const reward of ['step', 'final']) {
      const given = { history: null, reward }
      const steps = await play(name, ['<climb>', '<climb>'], given, { model: { limits } })
      expect(steps.map(({ truncateStatus }) => truncateStatus)).toEqual([undefined, 'prompt_truncated'])
      const earned = reward === 'step' ? [0.1, 0] : [0.1, 0.1]
      expect(steps.map((step) => step.reward)).toEqual(earned)
    }
  })

  it('the rewards of the steps add up to that of the conversation', async () => {
    const replies = fc.array(fc.constantFrom('<climb>', '<wait>', 'no'), { maxLength: 8 })
    await fc.assert(
      fc.asyncProperty(replies, fc.integer({ min: 1, max: 8 }), async (said, max_env_steps) => {
        const [whole] = await play('environment_workflow', said, { max_env_steps })
        const steps = await play(name, said, { max_env_steps })
        const finals = await play(name, said, { max_env_steps, reward: 'final' })
        const sum = steps.reduce((all, { reward = 0 }) => all + reward, 0)
        expect(whole.reward).toBeCloseTo(sum)
        expect(finals[0].reward).toBeCloseTo(sum)
        for (const key of ['actual_env_steps', 'success', 'invalid_actions'])
          expect(steps[0].metrics[key]).toBe(whole.metrics[key])
      }),
      { numRuns: 20 },
    )
  })
})

describe('arguments of the generic workflows', () => {
  const problems = (args: unknown) =>
    argsOf(workflows.get('step_wise_environment_workflow'))
      ?.safeParse(args)
      .error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`)

  it('are those of the environment too', () => {
    expect(problems({ environment: 'stair', environment_args: { height: 4 }, reward: 'final' })).toBeUndefined()
    expect(problems({ environment: 'stairs' })).toEqual([
      expect.stringMatching(/^environment: unknown environment 'stairs'; did you mean '?stair'?\?/),
    ])
    expect(problems({ environment: 'stair', environment_args: { hieght: 4 } })).toEqual([
      expect.stringMatching(/^environment_args\.hieght: unknown argument; did you mean '?height'?\?/),
    ])
    expect(problems({ environment: 'stair', reward: 'last' })).toHaveLength(1)
    expect(problems({})).toEqual([expect.stringMatching(/^environment: /)])
  })

  it('are checked with the configuration', () => {
    const text = (args: string) =>
      `model: {model_path: m, max_model_len: 9}\nbuffer: {explorer_input: {default_workflow_type: environment_workflow, taskset: {path: d, workflow_args: ${args}}}}`
    const key = 'buffer.explorer_input.taskset.workflow_args'
    const errors = (args: string) => {
      try {
        return resolve(text(args)).mode
      } catch (error) {
        return (error as ConfigError).problems.map((one) => `${one.key}: ${one.message} ${one.hint ?? ''}`)
      }
    }
    expect(errors('{environment: grid_world, environment_args: {size: 3}}')).toBe('both')
    expect(errors('{environment: gridworld}')).toEqual([
      expect.stringMatching(`^${key}\\.environment: unknown environment 'gridworld'; did you mean '?grid_world`),
    ])
    expect(errors('{environment: grid_world, environment_args: {hole: 0.1}}')).toEqual([
      expect.stringMatching(`^${key}\\.environment_args\\.hole: unknown argument; did you mean '?holes`),
    ])
    expect(errors('{environment: grid_world, max_steps: 3}')).toEqual([
      expect.stringMatching(`^${key}\\.max_steps: unknown argument`),
    ])
  })

  it('of a task are refused before the environment is opened', async () => {
    await expect(play('environment_workflow', [], { environment: 'stairs' })).rejects.toThrow("'stairs'")
    expect(log).toEqual([])
  })
})
