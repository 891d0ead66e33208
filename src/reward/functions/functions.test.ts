import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { testData } from '../../../test/support/test-data.js'
import { TrinityError } from '../../base/error.js'
import { prepareReward } from '../prepare.js'
import { rewardFns } from '../registry.js'
import { type RewardInput, rewardFn } from '../reward.js'

const r = String.raw

async function reward(name: string, response: string, truth: unknown, args = {}, rest: Partial<RewardInput> = {}) {
  const result = await prepareReward(name, args)({ response, truth, ...rest })
  return Number(result.reward.toFixed(9))
}

async function codeOf(promise: () => unknown): Promise<string | undefined> {
  try {
    await promise()
  } catch (error) {
    return error instanceof TrinityError ? error.code : 'not a TrinityError'
  }
}

describe('math_reward', () => {
  it.each([
    [r`\boxed{2}`, 0.9],
    [r`\boxted{3}`, -0.1],
    ['2', 0.9],
    ['<think>\nThree.\n</think>\n<answer>\n3\n</answer>', 0.1],
    ['<think>\nTwo.\n</think>\n<answer>\n\\boxed{2}\n</answer>', 1.1],
    [r`<think>Not closed</think><answer>\boxed{2}`, 0.9],
    ['<answer>\nonly an answer\n</answer>', -0.1],
    ['<think>\nonly a thought\n</think>', -0.1],
    ['<think>t</think><answer>not the end</answer> 2', -0.1],
    ['<think>t</think><answer>not the end</answer>\n2', -0.1],
    ['<think>It is 2.</think>', -0.1],
  ])('[2] %s', async (response, expected) => {
    expect(await reward('math_reward', response, '2')).toBeCloseTo(expected, 9)
  })

  it.each([r`\frac{40}{400}`, r`\frac{1}{10}`, '0.1', '0.1000', r`\frac{1} {10}`, r`\dfrac{10}{100}`])(
    'equal fractions: %s',
    async (answer) => {
      expect(await reward('math_reward', r`So it is \boxed{${answer}}`, r`\frac{40}{400}`)).toBeCloseTo(0.9, 9)
    },
  )

  it('GSM8K', async () => {
    const responses = [
      '<think> let me see 99 </think>\n<answer> 36 </answer>',
      '<answer> 36.0 </answer>',
      "<answer>Kim's total points are 6 + 30 = 36 </answer>",
      '<think> hm </think><answer> 35.00 </answer>',
    ]
    const of = (truth: string) => Promise.all(responses.map((response) => reward('math_reward', response, truth)))
    expect(await of('6 + 30 = 36\n#### 36')).toEqual([1.1, 0.9, 0.9, 0.1])
    expect(await of('35')).toEqual([0.1, -0.1, -0.1, 1.1])
    expect(await reward('math_reward', responses[0]!, 36)).toBe(1.1)
  })

  it('takes a pattern and an answer parser', async () => {
    expect(await reward('math_reward', 'Result: 5', '5', { pattern: 'Result: \\d+$' })).toBe(1.1)
    expect(await reward('math_reward', 'The Result: 5', '5', { pattern: 'Result: \\d+$' })).toBe(0.9)
    expect(await reward('math_reward', '7\n#### 5', '5', { answer_parser: 'gsm8k' })).toBe(0.9)
    expect(await codeOf(() => prepareReward('math_reward', { answer_parser: 'no_such' }))).toBe('args/invalid')
    expect(await codeOf(() => prepareReward('math_reward', { pattern: '(' }))).toBe('args/invalid')
  })
})

describe('math_boxed_reward', () => {
  const responses = [
    '<think> let me see 99 </think>\n\\boxed{36}',
    r`\boxed{36 }`,
    r`Kim's total points are 6 + 30 = \boxed{36}`,
    r`<think> hm </think> \boxed{35.00}`,
  ]

  it('compares the last box', async () => {
    expect(await Promise.all(responses.map((x) => reward('math_boxed_reward', x, '36')))).toEqual([1, 1, 1, 0])
    expect(await reward('math_boxed_reward', r`\boxed{1} \boxed{2}`, '2')).toBe(1)
    expect(await reward('math_boxed_reward', '36', '36')).toBe(0)
    expect(await reward('math_boxed_reward', r`\boxed{}`, '')).toBe(1)
    expect(await reward('math_boxed_reward', r`\boxed{-1}`, r`\boxed{1}`)).toBe(0)
    expect(await reward('math_boxed_reward', r`\boxed{1}`, r`so \boxed{1}`)).toBe(1)
  })

  it('wants one think pair when the workflow or the arguments say so', async () => {
    const rest = { withThink: true, formatScoreCoef: 0.2 }
    const of = (args: object, input: object) =>
      Promise.all(responses.map((x) => reward('math_boxed_reward', x, '36', args, input)))
    expect(await of({}, rest)).toEqual([1, 0.8, 0.8, 0])
    expect(await of({ with_think: true, format_score_coef: 0.2 }, {})).toEqual([1, 0.8, 0.8, 0])
    expect(await of({ with_think: true }, { withThink: false })).toEqual([1, 1, 1, 0])
  })
})

describe('format_reward', () => {
  it.each([
    ['<think>\na\nb\n</think>\n<answer>\n5\n</answer>', 0.1],
    ['<think>\n\n</think>\n<answer>\n\n</answer>', 0.1],
    ['<think>a</think><answer>5</answer>', -0.1],
    [' <think>\na\n</think>\n<answer>\n5\n</answer>', -0.1],
    ['<think>\na\n</think>\n<answer>\n5\n</answer> more', -0.1],
    ['<think>\n</think>\n<answer>\n</answer>', -0.1],
    ['', -0.1],
  ])('%s', async (response, expected) => {
    expect(await reward('format_reward', response, undefined)).toBe(expected)
  })

  it('takes a pattern', async () => {
    expect(await reward('format_reward', 'a\nb', undefined, { pattern: 'a.b$' })).toBe(0.1)
  })
})

describe('countdown_reward', () => {
  const truth = '{"numbers": [44, 19, 35], "target": 98}'
  it.each([
    ['<answer> 44 + 19 + 35 </answer>', 1],
    ['<answer>\n(44 + 19)\n + 35\n</answer>\nDone.', 1],
    ['<answer>1</answer> <answer>35+(19+44)</answer>', 1],
    ['<answer>44 + 19</answer>', 0.1],
    ['<answer>44 + 19 + 35 + 35</answer>', 0.1],
    ['<answer>44 - 19 + 35</answer>', 0.1],
    ['<answer>44 + 19 + 35 = 98</answer>', 0.1],
    ['<answer>44 + 19 + (35</answer>', 0.1],
    ['<answer>44 / (19 - 19) + 35</answer>', 0.1],
    ['<answer>process.exit(44 + 19 + 35)</answer>', 0.1],
    ['<answer>44 ** 19 ** 35</answer>', 0.1],
    ['<answer></answer>', 0.1],
    ['44 + 19 + 35', 0],
  ])('%s', async (response, expected) => {
    expect(await reward('countdown_reward', response, truth)).toBe(expected)
  })

  it('calculates with fractions and keeps the digits of a number together', async () => {
    const puzzle = { target: 24, nums: [8, 8, 3, 3] }
    expect(await reward('countdown_reward', '<answer>8 / (3 - 8 / 3)</answer>', puzzle)).toBe(1)
    expect(await reward('countdown_reward', '<answer>1.5 * 2</answer>', { target: 3, numbers: [1, 5, 2] })).toBe(0.1)
    expect(await reward('countdown_reward', '<answer>-5 + 6</answer>', { target: 1, numbers: [5, 6] })).toBe(1)
  })

  it('has no reward without a puzzle', async () => {
    for (const bad of [undefined, '5', '{', { target: 5 }]) {
      expect(await codeOf(() => reward('countdown_reward', '<answer>5</answer>', bad))).toBe('reward/no-truth')
    }
  })
})

describe('accuracy_reward', () => {
  it('is 0 or 1', async () => {
    expect(await reward('accuracy_reward', r`7, or rather \boxed{0.5}`, r`\frac12`)).toBe(1)
    expect(await reward('accuracy_reward', '<answer>\n6\n</answer>', '5')).toBe(0)
    expect(await reward('accuracy_reward', '5 and <answer>6</answer>', '6', { answer_parser: 'answer_tag' })).toBe(1)
  })
})

describe('math_dapo_reward', () => {
  const penalty = { enable_overlong_penalty: true, penalty_factor: 2, max_response_length: 100, cache_length: 20 }
  it('is ±1 by the last box after the thinking', async () => {
    expect(await reward('math_dapo_reward', r`<think>\boxed{3}</think> \boxed{4}`, '4')).toBe(1)
    expect(await reward('math_dapo_reward', r`<think>\boxed{4}</think> four`, '4')).toBe(-1)
    expect(await reward('math_dapo_reward', r`\boxed{2\pi}`, r`\pi + \pi`)).toBe(1)
    expect(await reward('math_dapo_reward', r`\boxed{(x+1)^2}`, 'x^2+2x+1')).toBe(1)
  })

  it.each([
    [79, 0],
    [80, 0],
    [90, -1],
    [100, -2],
    [101, -2],
  ])('%i tokens cost %f', async (length, cost) => {
    const rest = { responseTokens: new Int32Array(length) }
    expect(await reward('math_dapo_reward', r`\boxed{4}`, '4', penalty, rest)).toBe(1 + cost)
  })

  it('says what is missing', async () => {
    expect(await codeOf(() => reward('math_dapo_reward', r`\boxed{4}`, '4', penalty))).toBe('reward/no-tokens')
    expect(await codeOf(() => prepareReward('math_dapo_reward', { enable_overlong_penalty: true }))).toBe(
      'args/invalid',
    )
    expect(await codeOf(() => prepareReward('math_dapo_reward', { ...penalty, cache_length: 101 }))).toBe(
      'args/invalid',
    )
  })
})

describe('every reward function', () => {
  it.each(rewardFns.names())('%s: documented, works without arguments, refuses unknown ones', (name) => {
    const fn = rewardFns.get(name)
    expect(fn.doc).not.toBe('')
    expect(fn.args.safeParse({}).success).toBe(true)
    expect(fn.args.safeParse({ no_such: 1 }).success).toBe(false)
    for (const field of Object.values(fn.args.shape)) expect((field as z.ZodType).description).toBeTruthy()
    z.toJSONSchema(fn.args)
  })

  it.each(rewardFns.names().filter((name) => name !== 'format_reward'))('%s: no truth, no reward', async (name) => {
    expect(await codeOf(() => reward(name, r`\boxed{1}`, undefined))).toBe('reward/no-truth')
    expect(await codeOf(() => reward(name, r`\boxed{1}`, [{}]))).toBe('reward/no-truth')
  })

  it('an unknown name is answered with the nearest', async () => {
    expect(() => prepareReward('math_rewards')).toThrow("unknown reward function 'math_rewards'")
  })

  it('a function of one’s own: sums its parts; no number is no reward', async () => {
    const give = (parts: Record<string, number>) =>
      prepareReward(rewardFn({ doc: 'own', args: z.strictObject({}), score: () => parts }))
    expect(await give({ a: 1, b: 0.5 })({ response: '' })).toEqual({ reward: 1.5, parts: { a: 1, b: 0.5 } })
    expect(await codeOf(() => give({ a: Number.NaN })({ response: '' }))).toBe('reward/not-finite')
    expect(await codeOf(() => give({})({ response: '' }))).toBe('reward/empty')
  })
})

const countdown = testData('countdown/uft_test_with_solution.jsonl')

describe.skipIf(countdown.absent)(`CountDown with worked solutions${countdown.note}`, () => {
  it('gives 1 to every solution, and 0.1 for another target', async () => {
    const rows = readFileSync(countdown.path, 'utf8').trim().split('\n')
    const score = prepareReward('countdown_reward')
    for (const row of rows) {
      const { target, nums, answer } = JSON.parse(row) as { target: number; nums: number[]; answer: string }
      expect(await score({ response: answer, truth: { target, nums } })).toMatchObject({ reward: 1 })
      expect(await score({ response: answer, truth: { target: target + 1, nums } })).toMatchObject({ reward: 0.1 })
      const [first = 0, ...others] = nums
      expect(await score({ response: answer, truth: { target, nums: [first + 1, ...others] } })).toMatchObject({
        reward: 0.1,
      })
    }
    expect(rows.length).toBeGreaterThan(1000)
  })
})
