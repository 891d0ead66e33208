// Makes the data of the quick start: CountDown puzzles, "Make 22 from 5, 20, 3" → 5+20-3.
//
//   node examples/quickstart/make-data.mjs              writes countdown/train.jsonl and countdown/test.jsonl
//   node examples/quickstart/make-data.mjs --warmup F   worked examples for make-model.mjs into the file F
//   node examples/quickstart/make-data.mjs --answers F  right answers, for examples/offline/sft.yaml
//   node examples/quickstart/make-data.mjs --pairs F    a right and a wrong answer each, for examples/offline/dpo.yaml
//
// Always the same bytes: everything is drawn from fixed seeds. No puzzle of test.jsonl is in any other file.
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { folderOf } from '../lib/place.mjs'

const HIGHEST = 30
const TRAIN = 4000
const TEST = 500
/** Worked examples of the warm-up. The last fifth are a careless student's: most signs in them are guessed. */
const WARMUP = 128_000
const CARELESS = { from: 0.8 * WARMUP, share: 0.8 }
const OFFLINE = 1000

/** A small generator of random numbers (mulberry32); uniform in 0 … n − 1. */
function dice(seed) {
  let state = seed >>> 0
  return (n) => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), state | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 2 ** 32) * n)
  }
}

function shuffle(list, roll) {
  for (let i = list.length - 1; i > 0; i--) {
    const j = roll(i + 1)
    ;[list[i], list[j]] = [list[j], list[i]]
  }
  return list
}

/** Every way to put signs between the numbers: target → expressions. */
function expressions([a, b, c]) {
  const found = new Map()
  for (const [p, signed] of Object.entries({ '+': b, '-': -b })) {
    for (const [q, last] of Object.entries({ '+': c, '-': -c })) {
      const target = a + signed + last
      found.set(target, [...(found.get(target) ?? []), `${a}${p}${b}${q}${c}`])
    }
  }
  return found
}

/**
 * Every puzzle there is: three numbers up to HIGHEST, a target above 0, and the orders of the numbers in which signs
 * alone reach it. Two puzzles of the list differ in more than the order.
 */
function puzzles() {
  const all = new Map()
  for (let a = 1; a <= HIGHEST; a++) {
    for (let b = 1; b <= HIGHEST; b++) {
      for (let c = 1; c <= HIGHEST; c++) {
        const ways = expressions([a, b, c])
        const any = [...ways.values()].flat()
        for (const [target, solutions] of ways) {
          if (target <= 0) continue
          const key = `${[a, b, c].sort((x, y) => x - y)}=${target}`
          all.set(key, [...(all.get(key) ?? []), { numbers: [a, b, c], target, solutions, any }])
        }
      }
    }
  }
  return shuffle([...all.values()], dice(1))
}

const question = ({ numbers, target }) => `Make ${target} from ${numbers.join(', ')}`
const lines = (rows) => rows.map((row) => `${JSON.stringify(row)}\n`).join('')

function writeTasks(folder) {
  const roll = dice(5)
  const all = puzzles().map((orders) => orders[roll(orders.length)])
  const task = ({ numbers, target }) => ({ question: question({ numbers, target }), answer: { target, numbers } })
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'test.jsonl'), lines(all.slice(0, TEST).map(task)))
  writeFileSync(join(folder, 'train.jsonl'), lines(all.slice(TEST, TEST + TRAIN).map(task)))
}

const tagged = (expression) => `<answer>${expression}</answer>`

function warmup() {
  const all = puzzles().slice(TEST)
  const roll = dice(2)
  return Array.from({ length: WARMUP }, (_, i) => {
    const orders = all[roll(all.length)]
    const puzzle = orders[roll(orders.length)]
    const guesses = i >= CARELESS.from && roll(1000) < 1000 * CARELESS.share
    const answers = guesses ? puzzle.any : puzzle.solutions
    return { question: question(puzzle), answer: tagged(answers[roll(answers.length)]) }
  })
}

/** Puzzles that are not in test.jsonl. */
function some(roll) {
  return puzzles()
    .slice(TEST, TEST + OFFLINE)
    .map((orders) => orders[roll(orders.length)])
}

function answers() {
  const roll = dice(3)
  return some(roll).map((puzzle) => {
    return { question: question(puzzle), answer: tagged(puzzle.solutions[roll(puzzle.solutions.length)]) }
  })
}

function pairs() {
  const roll = dice(4)
  return some(roll).map((puzzle) => {
    const wrong = puzzle.any.filter((expression) => !puzzle.solutions.includes(expression))
    return {
      question: question(puzzle),
      chosen: tagged(puzzle.solutions[roll(puzzle.solutions.length)]),
      rejected: tagged(wrong[roll(wrong.length)]),
    }
  })
}

const [option, file] = process.argv.slice(2)
const wanted = { '--warmup': warmup, '--answers': answers, '--pairs': pairs }[option]
if (option === undefined) writeTasks(join(folderOf(import.meta.url), 'countdown'))
else if (wanted && file) {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, lines(wanted()))
} else {
  console.error('usage: node make-data.mjs [--warmup FILE | --answers FILE | --pairs FILE]')
  process.exit(2)
}
