import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { testPython } from '../../../test/support/python.js'
import { testData } from '../../../test/support/test-data.js'
import { gradeMath } from './grade.js'

const python = testPython('math-verify')
const answers500 = testData('math/math500.jsonl')

const SCRIPT = `
import json, logging, sys
logging.disable(logging.CRITICAL)
from math_verify import parse, verify
def read(text):
    return parse("$" + text + "$", parsing_timeout=5)
print(json.dumps([bool(verify(read(truth), read(answer), timeout_seconds=5)) for answer, truth in json.load(sys.stdin)]))
`

/** One answer in four, each against a rewriting, a damaged form and another answer. */
function pairs(): [string, string][] {
  const rows = readFileSync(answers500.path, 'utf8').trim().split('\n')
  const answers = [...new Set(rows.map((row) => (JSON.parse(row) as { answer: string }).answer))]
  return answers.flatMap((answer, k): [string, string][] => {
    if (k % 4 !== 0) return []
    return [
      [answer.replace(/\\d?frac\{(\d+)\}\{(\d+)\}/g, '\\dfrac{$1} {$2}').replace(/\\left|\\right/g, ''), answer],
      [answer.replace(/\d(?=\D*$)/, (digit) => String((Number(digit) + 3) % 10)), answer],
      [answers[(k + 17) % answers.length]!, answer],
    ]
  })
}

describe.skipIf(python.absent || answers500.absent)(
  `gradeMath beside math-verify${python.note || answers500.note}`,
  () => {
    it('agrees on MATH-500, but for bases and units', () => {
      const asked = pairs()
      const output = execFileSync(python.path, ['-c', SCRIPT], {
        input: JSON.stringify(asked),
        stdio: ['pipe', 'pipe', 'ignore'],
      })
      const theirs = JSON.parse(output.toString()) as boolean[]
      const differ = asked.filter(([answer, truth], k) => gradeMath(answer, truth) !== theirs[k])
      // It drops bases and units: 4210_8 is 4210_5 to it, and 15 cm⁵ is 15 cm².
      expect(differ.filter(([, truth]) => !/_\{?\d|\\text|\\mbox/.test(truth))).toEqual([])
      expect(differ.length).toBeLessThan(asked.length * 0.03)
    }, 120_000)
  },
)
