// Numbers to sort, in the form of reasoning-gym's number_sorting, and others to test with. No package is needed.
import { mkdirSync, writeFileSync } from 'node:fs'
import { Pcg64 } from 'trinity-rft'
import { folderOf } from '../lib/place.mjs'

const random = new Pcg64(1)
const between = (low, high) => low + random.below(high - low)
const seen = new Set()

function sorting() {
  const numbers = new Set()
  for (const count = between(3, 5); numbers.size < count; ) numbers.add(between(1, 99))
  const text = [...numbers].join(', ')
  const answer = [...numbers].sort((a, b) => a - b).join(', ')
  return { question: `Sort these numbers in ascending order: ${text}`, answer }
}

/** One that was not there before. */
function fresh() {
  for (;;) {
    const task = sorting()
    if (seen.has(task.question)) continue
    seen.add(task.question)
    return task
  }
}

folderOf(import.meta.url) // not inside node_modules
const dir = new URL('made/sorting/', import.meta.url)
mkdirSync(dir, { recursive: true })
for (const [split, count] of Object.entries({ test: 500, train: 6000 })) {
  writeFileSync(
    new URL(`${split}.jsonl`, dir),
    Array.from({ length: count }, () => `${JSON.stringify(fresh())}\n`).join(''),
  )
}
