import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet'
import { compressors } from 'hyparquet-compressors'
import { describe, expect, it } from 'vitest'
import { testData } from '../../test/support/test-data.js'
import { extractAnswer } from './extract.js'
import { mathAnswer } from './functions/math-reward.js'
import { gradeMath } from './math/grade.js'

/**
 * A policy that finds one response which is right for many questions need not think any more. Here constants are made
 * of the most frequent answers, in all ways to say several things at once that we know of: none may earn more than the
 * best single value does.
 */
const r = String.raw

const JOINTS = [
  ...['≈', r`\approx `, r`\sim `, r`\simeq `, r`\cong `, r`\equiv `, '=', '~', ',', ', ', ';', ' or ', ' and ', ' '],
  ...[r`\text{ or }`, r` \text{and} `, r`\cup `, r`\cap `, r`\vee `, r`\lor `, r`\pm `, ':', '/', '|', r`\mid `, '\n'],
  ...[r`\ `, r`\quad `, r`\\`, '&', '<', r`\le `, '>', r`\in `, r`\ne `, r`\to `, r`\ldots `, '...', '-', '+', '.'],
  ...['} \\text{ or } \\boxed{', '}, \\boxed{', '}\\boxed{', '</answer><answer>', '\n#### ', '. The answer is '],
]

const WRAPPERS: ((inner: string) => string)[] = [
  (x) => x,
  (x) => r`\{${x}\}`,
  (x) => `(${x})`,
  (x) => `[${x}]`,
  (x) => `x=${x}`,
  (x) => r`x \in \{${x}\}`,
  (x) => r`x \in [${x}]`,
  (x) => r`\approx ${x}`,
  (x) => `= ${x}`,
  (x) => r`\text{${x}}`,
  (x) => r`\begin{pmatrix}${x}\end{pmatrix}`,
  (x) => r`\begin{cases}${x}\end{cases}`,
  (x) => `|${x}|`,
  (x) => r`\boxed{${x}}`,
  (x) => r`${x} \approx ${x}`,
  (x) => `any of ${x}`,
]

/** One value with marks that can be read in two ways. */
const MARKS: ((value: string) => string)[] = [
  (x) => x,
  (x) => r`${x}\%`,
  (x) => r`${x}00\%`,
  (x) => r`${x}^\circ`,
  (x) => r`\lfloor ${x}^\circ\rfloor`,
  (x) => r`${x} \text{ m}/\text{cm}`,
  (x) => `${x} minutes/hour`,
  (x) => r`${x} \text{ cents}/\text{dollar}`,
  (x) => `${x}_{9}`,
  (x) => `x_{${x}} = ${x}`,
  (x) => r`\pm ${x}`,
  (x) => `${x}.00000e1`,
  (x) => `${x},000`,
  (x) => `(A) ${x}`,
  (x) => `${x} apples`,
  (x) => r`\$${x}`,
  (x) => `1:${x}`,
]

const FORMS: ((answer: string) => string)[] = [
  (x) => r`\boxed{${x}}`,
  (x) => x,
  (x) => `#### ${x}`,
  (x) => `The answer is ${x}.`,
  (x) => `<answer>${x}</answer>`,
  (x) => `A: ${x}`,
]

const SPECIAL = [
  ...[
    '',
    ' ',
    r`\boxed{}`,
    '\u200b',
    r`\boxed{\,}`,
    r`\text{}`,
    '$',
    '$$',
    '0/0',
    '1/0',
    r`\infty`,
    'x',
    'n',
    'x=x',
    '0=0',
  ],
  ...[
    '[0,999]',
    r`(-\infty,\infty)`,
    r`\mathbb{R}`,
    r`\mathbb{Z}`,
    r`x \in \mathbb{R}`,
    '0-999',
    r`0 \le x \le 999`,
    '1..600',
  ],
  ...[
    r`\pm 1 \pm 2 \pm 4`,
    '0x',
    'x^0',
    r`\frac{x}{x}`,
    r`\lfloor x \rfloor`,
    'x!',
    r`\sin^2 x`,
    'any',
    'all',
    'A,B,C,D',
  ],
  ...[
    r`1\pm0`,
    'answer',
    r`\boxed`,
    r`\boxed{\boxed{}}`,
    '1e400',
    '0.'.padEnd(40, '9'),
    r`\text{the answer}`,
    '%',
    r`^\circ`,
  ],
]

function constants(values: string[]): fc.Arbitrary<string> {
  const value = fc.tuple(fc.constantFrom(...values), fc.constantFrom(...MARKS)).map(([x, mark]) => mark(x))
  const some = fc.oneof(
    fc.shuffledSubarray(values, { minLength: 2, maxLength: Math.min(values.length, 12) }),
    fc.constant(values),
    fc.array(value, { minLength: 1, maxLength: 4 }),
  )
  const joined = fc
    .tuple(some, fc.array(fc.constantFrom(...JOINTS), { minLength: 1, maxLength: 2 }))
    .map(([list, joints]) => list.reduce((text, item, k) => text + joints[k % joints.length] + item))
  const inner = fc.tuple(joined, fc.constantFrom(...WRAPPERS)).map(([text, wrap]) => wrap(text))
  return fc
    .tuple(fc.oneof({ weight: 9, arbitrary: inner }, fc.constantFrom(...SPECIAL)), fc.constantFrom(...FORMS))
    .map(([text, form]) => form(text))
}

/** The truths that any of the reward functions takes a response to be right for. */
function paid(response: string, truths: string[]): string[] {
  const answers = new Set([mathAnswer(response), extractAnswer(response, 'boxed')])
  return truths.filter((truth) => [...answers].some((answer) => answer !== null && gradeMath(answer, truth)))
}

const RUNS = { seed: 20_240_229, numRuns: 250 }

describe('a constant response', () => {
  it('is right for one whole number at most', () => {
    const truths = Array.from({ length: 26 }, (_, k) => String(k)).concat('100', '200', '500', '1000')
    fc.assert(
      fc.property(constants(truths), (response) => {
        expect(paid(response, truths).length).toBeLessThanOrEqual(1)
      }),
      RUNS,
    )
  })

  it.each([
    r`\boxed{7 \approx 5}`,
    r`\boxed{x \approx 7 = 5}`,
    r`\boxed{7 \sim 5}`,
    r`\boxed{7 \simeq 5}`,
    r`\boxed{x = 7 = 5}`,
    r`\boxed{7} or \boxed{5}`,
    '#### 7 or 5',
    'The answer is 7 or 5.',
  ])('%s is not right for 5', (response) => {
    expect(paid(response, ['5', '7'])).toEqual([])
  })
})

const data = testData('math/math500.jsonl')

function jsonl(file: string, answer: (row: Record<string, unknown>) => unknown): string[] {
  const lines = readFileSync(testData(file).path, 'utf8').trim().split('\n')
  return lines.map((line) => String(answer(JSON.parse(line) as Record<string, unknown>)))
}

async function dapo(): Promise<string[]> {
  const file = await asyncBufferFromFile(testData('dapo_math/dapo_math_17k.parquet').path)
  const rows = (await parquetReadObjects({ file, compressors })) as { reward_model: { ground_truth: string } }[]
  return rows.map((row) => row.reward_model.ground_truth)
}

const SETS: Record<string, () => string[] | Promise<string[]>> = {
  GSM8K: () => jsonl('gsm8k/test.jsonl', (row) => extractAnswer(row.answer, 'gsm8k')),
  'MATH-500': () => jsonl('math/math500.jsonl', (row) => row.answer),
  'AIME 2024': () => jsonl('math_eval/aime24.jsonl', (row) => row.answer),
  'AIME 2025': () => jsonl('math_eval/aime25.jsonl', (row) => row.answer),
  'DAPO-17k': dapo,
}

describe.skipIf(data.absent)(`a constant response over public sets${data.note}`, () => {
  it.each(Object.keys(SETS))('earns no more on %s than its most frequent answer', async (name) => {
    const counts = new Map<string, number>()
    for (const truth of await SETS[name]!()) counts.set(truth, (counts.get(truth) ?? 0) + 1)
    const frequent = [...counts.keys()].sort((a, b) => counts.get(b)! - counts.get(a)!).slice(0, 60)
    const earned = (response: string) => paid(response, frequent).reduce((sum, truth) => sum + counts.get(truth)!, 0)
    const honest = Math.max(...frequent.slice(0, 20).map((truth) => earned(`\\boxed{${truth}}`)))
    fc.assert(
      fc.property(constants(frequent.slice(0, 30)), (response) => {
        expect(earned(response)).toBeLessThanOrEqual(honest)
      }),
      { ...RUNS, numRuns: 80 },
    )
    // All of them at once, in every way.
    for (const joint of JOINTS)
      expect([joint, earned(`\\boxed{${frequent.join(joint)}}`) <= honest]).toEqual([joint, true])
  })
})
