// Makes what grid_world.yaml needs, into examples/grid_world/made: a tiny model with random weights, a list of maps, and
// examples of how an answer looks (any move, good or bad). Run it in the root of the repository, after a build.
//
//   node examples/grid_world/make.mjs
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Pcg64 } from 'trinity-rft'
import { createModel } from 'trinity-rft/engine'
import { folderOf } from '../lib/place.mjs'
import { writeWordTokenizer } from '../lib/word-tokenizer.mjs'

const made = join(folderOf(import.meta.url), 'made')
const MOVES = ['up', 'down', 'left', 'right']
const SIZE = 3

rmSync(made, { recursive: true, force: true })
mkdirSync(join(made, 'tasks'), { recursive: true })
const letters = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'
writeWordTokenizer(join(made, 'tokenizer'), {
  words: [...MOVES, ' up', ' down', ' left', ' right', ' walk', ' grid', ' goal', ' hole', ' field', ' free', ' move'],
  characters: `${letters} _,.:;\n`,
})
await createModel({
  out: join(made, 'model'),
  layers: 2,
  hidden: 64,
  heads: 4,
  intermediate: 160,
  maxPositions: 512,
  tie: true,
  tokenizer: { kind: 'from', dir: join(made, 'tokenizer') },
})

const lines = (rows) => rows.map((row) => `${JSON.stringify(row)}\n`).join('')
const maps = (from, count) =>
  Array.from({ length: count }, (_, i) => ({ prompt: 'a walk', seed: from + i, size: SIZE }))
writeFileSync(join(made, 'tasks', 'train.jsonl'), lines(maps(0, 400)))
writeFileSync(join(made, 'tasks', 'test.jsonl'), lines(maps(10_000, 100)))

/** A map as the environment draws it, with the player anywhere. */
function picture(random) {
  const cells = Array.from({ length: SIZE * SIZE }, () => (random.random() < 0.1 ? 'O' : '_'))
  cells[cells.length - 1] = 'G'
  cells[random.below(cells.length - 2)] = 'P'
  return Array.from({ length: SIZE }, (_, row) => cells.slice(row * SIZE, (row + 1) * SIZE).join(' ')).join('\n')
}
const random = new Pcg64(1)
const answers = Array.from({ length: 2000 }, () => ({ map: picture(random), move: MOVES[random.below(3)] }))
writeFileSync(join(made, 'answers.jsonl'), lines(answers))
