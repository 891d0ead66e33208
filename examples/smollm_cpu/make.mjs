// Which of two numbers is larger: 2,000 pairs to learn from, 100 others to test with.
import { mkdirSync, writeFileSync } from 'node:fs'
import { Pcg64 } from 'trinity-rft'
import { folderOf } from '../lib/place.mjs'

const random = new Pcg64(1)
const seen = new Set()

function task() {
  const [a, b] = [10 + random.below(89), 10 + random.below(89)]
  const key = [a, b].join()
  if (a === b || seen.has(key)) return task()
  seen.add(key)
  return { question: `Which is larger, ${a} or ${b}?`, answer: String(Math.max(a, b)) }
}

folderOf(import.meta.url) // not inside node_modules
const dir = new URL('made/tasks/', import.meta.url)
mkdirSync(dir, { recursive: true })
for (const [split, count] of Object.entries({ test: 100, train: 2000 })) {
  const rows = Array.from({ length: count }, task)
  writeFileSync(new URL(`${split}.jsonl`, dir), rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
}
