// Makes what alfworld_small.yaml needs, into examples/alfworld_small/made: a tiny model with random weights, games of the
// simplest kind ("put some soapbottle on toilet") to train on and to test with, and what a careless student does in those for
// training. Run it in the root of the repository, after a build; the games come from `trinity data alfworld --compact`.
//
//   node examples/alfworld_small/make.mjs data/alfworld
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { AlfWorld, Pcg64 } from 'trinity-rft'
import { make } from '../lib/made.mjs'

/** How often the student does the right thing or walks anywhere; otherwise it says any of the right commands, mostly too early. */
const SHARES = { right: 0.7, walk: 0.15 }
const STEPS = 10
const TIMES = 12
const [folder] = process.argv.slice(2)
if (!folder) throw new Error('give the folder with train.jsonl.gz')

const world = new AlfWorld()
const random = new Pcg64(1)
const pick = (list) => list[random.below(list.length - 1)]
const walks = () => world.admissible().filter((command) => command.startsWith('go to '))

/** In a bathroom (rooms from 401 on), with nothing to be opened. */
const isSmall = ({ id, task_type, walkthrough }) =>
  task_type === 'pick_and_place_simple' && walkthrough.length <= 4 && /-4\d\d\//.test(id)

/** A student's episode as messages. */
async function lesson(game) {
  const { observation } = await world.reset({ row: game, seed: 0 })
  const messages = [{ role: 'user', content: observation.replace(/^-=.*=-\n\n/, '') }]
  for (let step = 0; step < STEPS; step++) {
    const chance = random.random()
    const right = chance < SHARES.right ? world.expert() : undefined
    const command = right ?? (chance < SHARES.right + SHARES.walk ? pick(walks()) : pick(game.walkthrough))
    messages.push({ role: 'assistant', content: command })
    const { observation: seen, done } = world.step(command)
    if (done) break
    if (step < STEPS - 1) messages.push({ role: 'user', content: seen })
  }
  return { messages }
}

const lines = gunzipSync(readFileSync(join(folder, 'train.jsonl.gz')))
  .toString()
  .trim()
  .split('\n')
const games = lines.map((line) => JSON.parse(line)).filter(isSmall)
const test = games.filter((_, i) => i % 4 === 0)
const train = games.filter((_, i) => i % 4 !== 0)
const answers = []
for (let time = 0; time < TIMES; time++) for (const game of train) answers.push(await lesson(game))

/** A thing with its number is one token, and so is what is always said in the same words. */
const PATTERN = [
  'You are in the middle of a room. Looking quickly around you, you see',
  'Your task is to: ',
  'You arrive at ',
  'You pick up the ',
  'Nothing happens.',
  ', you see nothing.',
  ', you see',
  '(?:,? and|,)? an? ',
  '[a-z]+ [0-9]+',
  '[a-z]+ ?',
  '[A-Z][a-z]+ the ',
  '[^a-z]',
].join('|')
const said = games
  .map(({ task }) => task)
  .concat(answers.flatMap(({ messages }) => messages.map(({ content }) => content)))
await make(import.meta.url, {
  words: [...new Set(said.join('\n').match(new RegExp(PATTERN, 'g')))].filter((word) => word.length > 1).sort(),
  characters: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 .,:'/\n",
  whole: true,
  pattern: PATTERN,
  maxPositions: 512,
  train,
  // each twice: there are few
  test: [...test, ...test],
  answers,
})
