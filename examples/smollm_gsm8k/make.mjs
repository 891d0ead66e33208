// What smollm_gsm8k.yaml learns from, out of the training questions of GSM8K and nothing else: their solutions as equations, the same
// questions with other numbers and names (variants.mjs), and word problems of our own (stories.mjs). The test questions are never read.
// The solutions of some questions are not shown: these are the tasks of reinforcement, which sees only whether an answer is right.
//
//   npx trinity data gsm8k && node examples/smollm_gsm8k/make.mjs data/gsm8k
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Pcg64 } from 'trinity-rft'
import { folderOf } from '../lib/place.mjs'
import { NAMES } from './sheet.mjs'
import { story } from './stories.mjs'
import { brief, equations, final, understand, vary } from './variants.mjs'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    out: { type: 'string' },
    seed: { type: 'string', default: '1' },
    rows: { type: 'string', default: '72000' }, // lessons, at most
    further: { type: 'string', default: '31000' }, // lessons of supervised.yaml, at most
    repeats: { type: 'string', default: '3' }, // of each question as it is
    variants: { type: 'string', default: '14' }, // of each question that can be varied
    stories: { type: 'string', default: '15000' },
    form: { type: 'string', default: 'brief' }, // or text: solutions as GSM8K has them
    held: { type: 'string', default: '1473' }, // questions whose solutions are not shown
  },
})
const out = values.out ?? join(folderOf(import.meta.url), 'made')
const number = (name) => Number(values[name])
const random = new Pcg64(number('seed'))
const file = join(positionals[0] ?? 'data/gsm8k', 'train.jsonl')
const shown = readFileSync(file, 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line))
const held = shown.splice(shown.length - number('held'))

const known = new RegExp(`\\b(${NAMES.join('|')})\\b`, 'g')
/** The same question about other people. */
function renamed(question) {
  const names = new Map()
  return question.replaceAll(known, (name) => {
    while (!names.has(name)) {
      const other = NAMES[random.below(NAMES.length - 1)]
      if (![...names.values()].includes(other)) names.set(name, other)
    }
    return names.get(name)
  })
}

/** Lessons about these questions, each with its place in the curriculum, from 0 to 1. */
function lessonsOf(rows) {
  const lessons = []
  for (const row of rows) {
    const steps = equations(row.answer)
    const answer = values.form === 'text' ? row.answer : steps && brief(steps, final(row.answer))
    for (let i = 0; answer && i < number('repeats'); i++) {
      const question = i === 0 ? row.question : renamed(row.question)
      lessons.push({ place: 0.1 + 0.9 * random.random(), row: { question, answer } })
    }
    const plan = values.form === 'brief' ? understand(row) : undefined
    for (let i = 0; plan && i < number('variants'); i++) {
      const made = vary(plan, random)
      if (!made) break
      const varied = { question: renamed(made.question), answer: brief(made.steps, made.result) }
      lessons.push({ place: random.random(), row: varied })
    }
  }
  return lessons
}

/** At most so many of them, in the order of their places. */
function chosen(lessons, most) {
  const kept =
    lessons.length > most ? [...random.choice(lessons.length, most)].map((index) => lessons[index]) : [...lessons]
  return kept.sort((a, b) => a.place - b.place).map(({ row }) => row)
}

const ours = Array.from({ length: number('stories') }, () => {
  const { question, steps, result } = story(random)
  // early, so that what was learned last is GSM8K
  return { place: 0.75 * random.random(), row: { question, answer: brief(steps, result) } }
})
const questions = lessonsOf(shown)
const solutions = lessonsOf(held)

const save = (name, rows) => writeFileSync(join(out, name), rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
mkdirSync(out, { recursive: true })
const lessons = chosen([...questions, ...ours], number('rows'))
save('lessons.jsonl', lessons)
save('tasks.jsonl', held)
// what supervision would have instead of reinforcement: the solutions that were not shown, among others that were
const others = chosen(questions, Math.max(0, number('further') - solutions.length))
const mixed = [...solutions, ...others.map((row) => ({ place: random.random(), row }))]
save('further.jsonl', chosen(mixed, number('further')))
console.log(`${lessons.length} lessons of ${shown.length} questions, ${held.length} tasks`)
