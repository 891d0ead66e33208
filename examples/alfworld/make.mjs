// Makes what alfworld.yaml needs, into examples/alfworld/made: a model with random weights, a tokenizer whose tokens are
// the words of the world, games to train and to be tested on, and episodes to imitate. Run it in the root of the
// repository, after a build; the games come from `trinity data alfworld --compact`.
//
//   node examples/alfworld/make.mjs GAMES [--lessons 24] [--layers 12] [--hidden 512]
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { gunzipSync, gzipSync } from 'node:zlib'
import { createModel } from 'trinity-rft/engine'
import { folderOf } from '../lib/place.mjs'
import { writeWordTokenizer } from '../lib/word-tokenizer.mjs'
import { lessonsIn } from './lessons.mjs'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    lessons: { type: 'string', default: '24' },
    layers: { type: 'string', default: '12' },
    hidden: { type: 'string', default: '512' },
    family: { type: 'string' },
    out: { type: 'string' },
  },
})
const { family, out = join(folderOf(import.meta.url), 'made') } = values
const [folder] = positionals
if (!folder) throw new Error('give the folder with train.jsonl.gz and test.jsonl.gz')

/** Rooms in which nothing is trained, to see what is left of success in a new one: bedrooms, living rooms, baths, a kitchen. */
const NEW_ROOMS = new Set(['309', '326', '218', '210', '411', '422', '28'])
const roomOf = ({ id }) => /-(\d+)\//.exec(id)?.[1]

const read = (name) =>
  gunzipSync(readFileSync(join(folder, name)))
    .toString()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
const write = (name, rows) =>
  writeFileSync(join(out, name), gzipSync(rows.map((row) => `${JSON.stringify(row)}\n`).join('')))
const ofFamily = (games) => games.filter(({ task_type }) => family === undefined || task_type === family)

rmSync(out, { recursive: true, force: true })
mkdirSync(join(out, 'tasks'), { recursive: true })
const games = ofFamily(read('train.jsonl.gz'))
const train = games.filter((game) => !NEW_ROOMS.has(roomOf(game)))
write(
  'tasks/new_rooms.jsonl.gz',
  games.filter((game) => NEW_ROOMS.has(roomOf(game))),
)
write('tasks/valid_seen.jsonl.gz', ofFamily(read('test.jsonl.gz')))

const taught = await lessonsIn(train, Number(values.lessons))
const demonstrations = taught.flatMap(({ lessons }) => lessons)
write('demonstrations.jsonl.gz', demonstrations)
write('tasks/train.jsonl.gz', [...train, ...taught.flatMap(({ other }) => other ?? [])])

const words = new Set()
for (const { messages } of demonstrations)
  for (const { content } of messages) for (const word of content.match(/ ?[A-Za-z]+| ?[0-9]+/g)) words.add(word)
for (let i = 0; i < 100; i++) words.add(` ${i}`)
writeWordTokenizer(join(out, 'tokenizer'), {
  words: [...words].sort(),
  characters: 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 .,:;!?\'"()/-=\n',
  whole: true,
})
const { parameters } = await createModel({
  out: join(out, 'model'),
  layers: Number(values.layers),
  hidden: Number(values.hidden),
  heads: Number(values.hidden) / 64,
  maxPositions: 4096,
  tie: true,
  tokenizer: { kind: 'from', dir: join(out, 'tokenizer') },
})
console.log(
  `${train.length} games, ${demonstrations.length} demonstrations, ${words.size} words, ${(parameters / 1e6).toFixed(1)}M parameters`,
)
