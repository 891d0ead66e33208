import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { testData } from '../../../test/support/test-data.js'
import { TrinityError } from '../../base/error.js'
import { gradeMath } from '../../reward/index.js'
import { openDataset } from '../../task/index.js'
import { readProblem } from './problem.js'

describe('readProblem', () => {
  it.each<[string, object, { question: string; answer: string }]>([
    [
      'a chat and its ground truth',
      { prompt: [{ role: 'user', content: 'One and one?' }], reward_model: { ground_truth: '2' } },
      { question: 'One and one?', answer: '2' },
    ],
    [
      'a chat that begins with the system',
      {
        prompt: [
          { role: 'system', content: 'Be brief.' },
          { role: 'user', content: 'One and one?' },
        ],
        answer: 2,
      },
      { question: 'One and one?', answer: '2' },
    ],
    [
      'question and answer',
      { question: 'Ducks?', answer: 'She has 3.\n#### 1,800' },
      { question: 'Ducks?', answer: '1,800' },
    ],
    ['prompt and answer', { prompt: 'Ducks?', answer: '7' }, { question: 'Ducks?', answer: '7' }],
    [
      'a solution with a box',
      { problem: 'Area?', solution: 'It is \\boxed{\\frac12}.' },
      { question: 'Area?', answer: '\\frac12' },
    ],
    ['several answers', { question: 'Roots?', final_answer: ['1', '$-1$'] }, { question: 'Roots?', answer: '1, $-1$' }],
    [
      'a ground truth that is an object',
      { prompt: [{ role: 'user', content: 'q' }], reward_model: { ground_truth: { question: 'q', target: '4' } } },
      { question: 'q', answer: '4' },
    ],
  ])('%s', (_, row, expected) => {
    expect(readProblem({ row: row as Record<string, unknown> })).toEqual(expected)
  })

  it('what the format of the task set names counts first', () => {
    const row = { question: 'no', answer: 'no' }
    expect(readProblem({ row, text: 'yes?', truth: 8 })).toEqual({ question: 'yes?', answer: '8' })
  })

  it('says what is missing', () => {
    expect(() => readProblem({ row: { q: 1 } })).toThrow('the row has no question: its columns are q')
    expect(() => readProblem({ row: { question: 'a?' } })).toThrow('the row has no right answer')
  })

  it('never fails raw', () => {
    const row = fc.dictionary(fc.constantFrom('prompt', 'answer', 'reward_model', 'solution', 'x'), fc.jsonValue())
    fc.assert(
      fc.property(row, fc.jsonValue(), (row, truth) => {
        try {
          expect(typeof readProblem({ row, truth }).question).toBe('string')
        } catch (error) {
          expect(error).toBeInstanceOf(TrinityError)
        }
      }),
    )
  })
})

/** Files of other people, and their rows; of the large ones the first are read. */
const SETS: [path: string, rows: number][] = [
  ['gsm8k/test.jsonl', 1319],
  ['math/math500.jsonl', 500],
  ['math/train_verl.parquet', 7500],
  ['math_eval/aime24.jsonl', 30],
  ['math_eval/aime25.jsonl', 30],
  ['math_eval/amc23.jsonl', 40],
  ['math_eval/minerva_math.jsonl', 272],
  ['math_eval/olympiadbench.jsonl', 675],
  ['dapo_math/dapo_math_17k.parquet', 17917],
  ['dapo_math/aime-2024_dapo_eval.parquet', 960],
]
for (const [path, rows] of SETS) {
  const { path: at, absent, note } = testData(path)
  it.skipIf(absent)(`reads the rows of ${path}${note}`, async () => {
    const source = await openDataset({ path: at })
    expect(source.length).toBe(rows)
    for (let index = 0; index < Math.min(rows, 700); index++) {
      const { question, answer } = readProblem({ row: await source.row(index) })
      expect(question.length).toBeGreaterThan(5)
      if (index % 29 === 0) expect(gradeMath(answer, answer)).toBe(true)
    }
    await source.close()
  })
}
