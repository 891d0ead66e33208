// Makes what reasoning_gym.yaml needs, into examples/reasoning_gym/made: a tiny model with random weights, tasks of three
// easy families to train on and to test with, and what a careless student answers to others. Needs a Python with
// reasoning-gym (TRINITY_PYTHON, .venv or PATH). Run it in the root of the repository, after a build.
//
//   node examples/reasoning_gym/make.mjs
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Pcg64 } from 'trinity-rft'
import { make } from '../lib/made.mjs'
import { trinity } from '../lib/place.mjs'

/** The families, and how hard they are. */
const MIX = [
  { name: 'spell_backward', weight: 2, config: { min_word_len: 3, max_word_len: 3 } },
  { name: 'chain_sum', difficulty: 0 },
  { name: 'gcd', config: { min_numbers: 2, max_numbers: 2, min_value: 1, max_value: 9 } },
]

/** Tasks with their answers, as `trinity data reasoning_gym` makes them. */
function tasks(train, test, seed) {
  const folder = mkdtempSync(join(tmpdir(), 'trinity-example-'))
  const options = { train, test, seed, dataset: JSON.stringify(MIX), out: folder }
  const words = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)])
  execFileSync(process.execPath, [trinity, 'data', 'reasoning_gym', ...words], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const rows = (file) =>
    readFileSync(join(folder, file), 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
  const made = { train: rows('train.jsonl'), test: rows('test.jsonl') }
  rmSync(folder, { recursive: true })
  return made
}

/** Right with some probability, otherwise what is the answer to another task of the family. */
function careless(rows, care) {
  const random = new Pcg64(1)
  return rows.map(({ name, question, answer }) => {
    const others = rows.filter((row) => row.name === name)
    return { question, answer: random.random() < care ? answer : others[random.below(others.length - 1)].answer }
  })
}

const { train, test } = tasks(2000, 150, 1)
await make(import.meta.url, {
  words: [
    ...[
      'Spell this word backward (example: sun -> nus): ',
      'State the final answer to the following arithmetic problem: ',
    ],
    ...['Find the Greatest Common Divisor (GCD) of these numbers: ', '. Give only the GCD as your final answer.'],
    ...[' + ', ' - ', ' =', ', '],
  ],
  characters: 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-',
  train,
  test,
  answers: careless(tasks(4000, 1, 2).train, 0.5),
})
