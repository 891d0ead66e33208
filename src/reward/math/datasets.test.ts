import { readFileSync } from 'node:fs'
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet'
import { compressors } from 'hyparquet-compressors'
import { describe, expect, it } from 'vitest'
import { testData } from '../../../test/support/test-data.js'
import { extractAnswer } from '../extract.js'
import { gradeMath } from './grade.js'

const sets = testData('math/math500.jsonl')
const at = (file: string) => testData(file).path

function jsonl(file: string): Record<string, unknown>[] {
  const lines = readFileSync(at(file), 'utf8').trim().split('\n')
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>)
}

async function parquet(file: string): Promise<Record<string, unknown>[]> {
  return parquetReadObjects({ file: await asyncBufferFromFile(at(file)), compressors })
}

const unique = (list: (string | null)[]) => [...new Set(list.filter((item) => item))] as string[]

/** The answers of MATH, OlympiadBench, Minerva and MATH-500 as their solutions have them. */
async function mathAnswers(): Promise<string[]> {
  const train = (await parquet('math/train_verl.parquet')) as { reward_model: { ground_truth: { solution: string } } }[]
  return unique([
    ...train.map((row) => extractAnswer(row.reward_model.ground_truth.solution, 'boxed')),
    ...jsonl('math/math500.jsonl').map((row) => row.answer as string),
    ...jsonl('math_eval/olympiadbench.jsonl').map((row) => (row.final_answer as string[]).join(', ')),
    ...jsonl('math_eval/minerva_math.jsonl').map((row) => extractAnswer(row.solution, 'boxed')),
  ])
}

async function numberAnswers(): Promise<string[]> {
  const dapo = (await parquet('dapo_math/dapo_math_17k.parquet')) as { reward_model: { ground_truth: string } }[]
  return unique([
    ...jsonl('gsm8k/train.jsonl').map((row) => extractAnswer(row.answer, 'gsm8k')),
    ...jsonl('gsm8k/test.jsonl').map((row) => extractAnswer(row.answer, 'gsm8k')),
    ...dapo.map((row) => row.reward_model.ground_truth),
    ...['aime24', 'aime25', 'amc23'].flatMap((set) => jsonl(`math_eval/${set}.jsonl`).map((row) => String(row.answer))),
  ])
}

/** Changes that keep the value. */
const REWRITINGS: [name: string, rewrite: (answer: string) => string][] = [
  ['\\dfrac', (s) => s.replace(/\\[dt]?frac(?![a-z])/g, '\\dfrac')],
  ['\\frac', (s) => s.replace(/\\[dt]frac/g, '\\frac')],
  ['no \\left', (s) => s.replace(/\\left(?![a-z])|\\right(?![a-z])/g, '')],
  ['spaces', (s) => (/e-|,\\?!|\{,\}|\\text|\\mbox|\d,\d{3}/.test(s) ? s : s.replace(/([+=])/g, ' $1 '))],
  ['dollars', (s) => (s.includes('$') ? s : `$${s}$`)],
  ['box', (s) => `\\boxed{${s}}`],
  ['full stop', (s) => (s.endsWith('.') ? s : `${s}.`)],
]

/** Changes that change the value; an answer they leave alone is skipped. */
const DAMAGES: [name: string, damage: (answer: string) => string][] = [
  ['first digit', (s) => s.replace(/\d/, (d) => String((Number(d) + 1) % 10))],
  ['last digit', (s) => s.replace(/\d(?=\D*$)/, (d) => String((Number(d) + 3) % 10))],
  ['sign', (s) => (s.startsWith('-') ? s.slice(1) : `-${s}`)],
  ['one more', (s) => `${s}+1`],
]

describe.skipIf(sets.absent)(`grading the answers of public sets${sets.note}`, () => {
  it('finds every answer equal to itself and to its rewritings', async () => {
    const answers = [...(await mathAnswers()), ...(await numberAnswers())]
    expect(answers.length).toBeGreaterThan(5000)
    const missed: string[] = []
    for (const answer of answers) {
      for (const [name, rewrite] of REWRITINGS) {
        if (!gradeMath(rewrite(answer), answer)) missed.push(`${name}: ${answer}`)
      }
    }
    expect(missed).toEqual([])
  })

  it('finds damaged answers wrong', async () => {
    const found: string[] = []
    for (const answer of await mathAnswers()) {
      // The sign of zero, and an approximation added to an exact value, say nothing.
      if (/^\$?0|\\approx/.test(answer)) continue
      for (const [name, damage] of DAMAGES) {
        const other = damage(answer)
        if (other !== answer && gradeMath(other, answer)) found.push(`${name}: ${answer} | ${other}`)
      }
    }
    expect(found).toEqual([])
  })

  it('tells numbers apart exactly as their values do', async () => {
    const answers = await numberAnswers()
    const value = (text: string) => Number(text.replace(/,/g, ''))
    const wrong: string[] = []
    answers.forEach((answer, k) => {
      const decimal = `${answer.replace(/,/g, '')}.00`
      if (/^-?\d+$/.test(answer) && !gradeMath(decimal, answer)) wrong.push(`${answer} | ${decimal}`)
      for (const step of [1, 2, 3, 7, 101]) {
        const other = answers[(k + step) % answers.length]!
        if (gradeMath(answer, other) !== (value(answer) === value(other))) wrong.push(`${answer} | ${other}`)
      }
    })
    expect(wrong).toEqual([])
  })

  it('agrees with the normalized truths that MATH is trained with, but for those that lost their meaning', async () => {
    const rows = (await parquet('math/train_verl.parquet')) as {
      reward_model: { ground_truth: { solution: string; target: string } }
    }[]
    const missed = rows.filter(({ reward_model: { ground_truth } }) => {
      const answer = extractAnswer(ground_truth.solution, 'boxed')
      return answer !== null && !gradeMath(answer, ground_truth.target)
    })
    // Of two boxes, as in \boxed{1} and \boxed{9}, the targets have the second only.
    const half = missed.filter(({ reward_model: { ground_truth } }) =>
      /\\boxed.*(?:and|or|,).*\\boxed/.test(ground_truth.solution),
    )
    expect(half.length).toBeLessThanOrEqual(7)
    // Empty targets, matrices without row ends, `2400^2` for 2400 cm², `\frac{\}{p}i2`.
    expect(missed.length - half.length).toBeLessThanOrEqual(10)
  })
})
