import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { testData } from '../../test/support/test-data.js'
import { extractAnswer } from './extract.js'
import { mathAnswer } from './functions/math-reward.js'
import { gradeMath } from './math/grade.js'

function jsonl<T>(path: string): T[] {
  const lines = readFileSync(path, 'utf8').trim().split('\n')
  return lines.map((line) => JSON.parse(line) as T)
}

const isRight = (response: string, truth: string) => {
  const answer = mathAnswer(response)
  return answer !== null && gradeMath(answer, truth)
}

const gsm8k = testData('gsm8k/test.jsonl')
const plain = (solution: string) => solution.replace(/<<[^<>]*>>/g, '')

/** How a solution ends, and how many of 10,000 may be missed. Without a last line, some end with another number. */
const ENDS: [name: string, end: (truth: string) => string, missed: number][] = [
  ['####', (truth) => `\n#### ${truth}`, 0],
  ['A:', (truth) => `\nA: ${truth}`, 0],
  ['the answer is', (truth) => `\nThe answer is $${truth}.`, 0],
  ['bold', (truth) => `\n\n**Answer**: ${truth} apples`, 0],
  ['a sentence', () => '', 150],
]

describe.skipIf(gsm8k.absent)(`answers without a box, in the solutions of GSM8K${gsm8k.note}`, () => {
  it.each(ENDS)('%s', (_name, end, allowed) => {
    const rows = jsonl<{ answer: string }>(gsm8k.path).map(({ answer }) => answer.split('\n#### ') as [string, string])
    const value = (truth: string) => Number(truth.replace(/,/g, ''))
    let missed = 0
    rows.forEach(([solution, truth], k) => {
      if (!isRight(plain(solution) + end(truth), truth)) missed++
      const other = rows[(k + 1) % rows.length]![1]
      if (allowed === 0) expect(isRight(solution + end(truth), other)).toBe(value(truth) === value(other))
    })
    expect((missed / rows.length) * 10_000).toBeLessThanOrEqual(allowed)
  })
})

const labeled = testData('gsm8k/example_model_solutions.jsonl')
const MODELS = ['6b_finetuning', '6b_verification', '175b_finetuning', '175b_verification'] as const
type Row = { ground_truth: string } & Record<(typeof MODELS)[number], { is_correct: boolean; solution: string }>

describe.skipIf(labeled.absent)(`the labeled solutions that OpenAI sampled for GSM8K${labeled.note}`, () => {
  it('are right where they are labeled so, and nowhere else', () => {
    let right = 0
    let found = 0
    const wrong: string[] = []
    for (const row of jsonl<Row>(labeled.path)) {
      const truth = row.ground_truth.slice(row.ground_truth.lastIndexOf('A:') + 2).trim()
      for (const model of MODELS) {
        const { is_correct, solution } = row[model]
        const verdict = isRight(solution, truth)
        if (is_correct) right++
        if (is_correct && verdict) found++
        if (!is_correct && verdict) wrong.push(solution)
      }
    }
    expect(wrong).toEqual([])
    expect(found / right).toBeGreaterThanOrEqual(0.995)
  })
})

const math500 = testData('math/math500.jsonl')

describe.skipIf(math500.absent)(`answers without a box, of MATH-500${math500.note}`, () => {
  it.each<[name: string, say: (answer: string) => string]>([
    ['alone', (answer) => answer],
    ['said', (answer) => `We compute. The answer is ${answer}.`],
    ['said in dollars', (answer) => `We know $x=3$.\n\n**Answer:** $${answer}$`],
    ['displayed', (answer) => `Hence\n\\[\n${answer}\n\\]`],
    ['in a sentence', (answer) => `So we obtain $${answer}$ in the end.`],
    ['after a word', (answer) => `Thus, $${answer}$.`],
    ['boxed', (answer) => `So \\boxed{${answer}}, as we said.`],
  ])('%s', (_name, say) => {
    const answers = jsonl<{ answer: string }>(math500.path).map((row) => row.answer)
    const missed = answers.filter((answer) => !isRight(say(answer), answer))
    expect(missed.length).toBeLessThanOrEqual(2)
    expect(extractAnswer(say('5'), 'final')).toBe('5')
  })
})
