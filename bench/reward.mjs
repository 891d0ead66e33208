// What grading a math answer costs, against math-verify where the Python environment has it.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { interleave, printTable, ratioRows } from './lib.mjs'

export const title = 'Rewards'
export const about = 'grading 240 pairs of math answers, against math-verify; target: at most 0.2 ms a pair'
export const quick = true

const dist = fileURLToPath(new URL('../dist/reward/index.js', import.meta.url))
const python = fileURLToPath(new URL('../.venv/bin/python', import.meta.url))

const FORMS = [
  ['\\frac{14}{3}', '14/3'],
  ['0.5', '\\frac12'],
  ['x^2+2x+1', '(x+1)^2'],
  ['\\left( 3, \\frac{\\pi}{2} \\right)', '(3,\\pi/2)'],
  ['(-\\infty,2)\\cup(3,\\infty)', '(3,\\infty)\\cup(-\\infty,2)'],
  ['1 \\pm \\sqrt{19}', '1+\\sqrt{19},1-\\sqrt{19}'],
  ['2\\sin 5x\\cos x', '\\sin 6x+\\sin 4x'],
  ['\\begin{pmatrix} 1 & 2 \\\\ 3 & 4 \\end{pmatrix}', '\\begin{bmatrix}1&2\\\\3&4\\end{bmatrix}'],
  ['1,234', '1234'],
  ['50\\%', '0.5'],
  ['5', '7'],
  ['\\sqrt{53}', '\\sqrt{59}'],
]
const pairs = Array.from({ length: 20 }, () => FORMS).flat()

const SCRIPT = `
import json, logging, sys, time
logging.disable(logging.CRITICAL)
from math_verify import parse, verify
pairs = json.load(sys.stdin)
def grade(a, b):
    return verify(parse("$" + b + "$", parsing_timeout=5), parse("$" + a + "$", parsing_timeout=5), timeout_seconds=5)
grade(*pairs[0])
start = time.perf_counter()
for a, b in pairs:
    grade(a, b)
print((time.perf_counter() - start) * 1000)
`

export async function run() {
  if (!existsSync(dist)) throw new Error('no dist/reward: npm run build first')
  const { gradeMath } = await import(dist)
  const grade = () => {
    for (const [a, b] of pairs) gradeMath(a, b)
  }
  const results = await interleave({
    'JSON.parse': () => pairs.map((pair) => JSON.parse(JSON.stringify(pair))),
    gradeMath: grade,
  })
  printTable(ratioRows(results, 'JSON.parse'))
  const each = results.gradeMath.median / pairs.length
  const best = results.gradeMath.min / pairs.length
  console.log(
    `gradeMath: ${each.toFixed(3)} ms a pair, at best ${best.toFixed(3)}: target ≤ 0.2 ${best <= 0.2 ? 'met' : 'MISSED'}`,
  )
  if (!existsSync(python)) return
  const peer = spawnSync(python, ['-c', SCRIPT], { input: JSON.stringify(pairs), encoding: 'utf8' })
  if (peer.status !== 0) return console.log('math-verify: not in .venv')
  const theirs = Number(peer.stdout) / pairs.length
  console.log(`math-verify: ${theirs.toFixed(3)} ms a pair, ${(theirs / each).toFixed(0)} × gradeMath`)
}
