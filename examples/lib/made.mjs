// What the examples of small worlds are made of: a model with random weights whose tokenizer knows the words of the world,
// tasks, and answers to begin with.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createModel } from 'trinity-rft/engine'
import { folderOf } from './place.mjs'
import { writeWordTokenizer } from './word-tokenizer.mjs'

const lines = (rows) => rows.map((row) => `${JSON.stringify(row)}\n`).join('')

/**
 * Writes `made/` beside the script: `model`, `tasks/train.jsonl`, `tasks/test.jsonl` and `answers.jsonl`. The rest of what is
 * given goes to the tokenizer.
 */
export async function make(script, { train, test, answers, maxPositions = 64, ...tokenizer }) {
  const made = join(folderOf(script), 'made')
  rmSync(made, { recursive: true, force: true })
  mkdirSync(join(made, 'tasks'), { recursive: true })
  writeWordTokenizer(join(made, 'tokenizer'), tokenizer)
  const { parameters } = await createModel({
    out: join(made, 'model'),
    layers: 2,
    hidden: 128,
    heads: 4,
    intermediate: 320,
    maxPositions,
    tie: true,
    tokenizer: { kind: 'from', dir: join(made, 'tokenizer') },
  })
  writeFileSync(join(made, 'tasks', 'train.jsonl'), lines(train))
  writeFileSync(join(made, 'tasks', 'test.jsonl'), lines(test))
  writeFileSync(join(made, 'answers.jsonl'), lines(answers))
  console.log(`${made}: ${parameters} parameters, ${train.length} tasks, ${answers.length} answers`)
}
