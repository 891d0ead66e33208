// ALFWorld: steps a second of processor time with the list of possible commands at every step, loading a game, a thousand episodes at once.
// Games of TRINITY_TEST_DATA (alfworld/games/valid_seen.jsonl.gz), else of ALFWORLD_DATA. Against the real textworld in
// the same run where TRINITY_PYTHON has it. --games=140 --steps=100 --rounds=5
import { spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { gunzipSync } from 'node:zlib'
import { format, median, printTable, watchHost } from '../lib.mjs'

export const title = 'ALFWorld'
export const about = 'steps/s with possible commands, loading, 1,000 episodes at once, against textworld (needs games)'

const root = fileURLToPath(new URL('../../', import.meta.url))
const TARGETS = { steps: 20_000, load: 5, memory: 500, lag: 50 }

export async function run(options = []) {
  const option = (name, fallback) =>
    Number(options.find((given) => given.startsWith(`--${name}=`))?.slice(name.length + 3) ?? fallback)
  if (!existsSync(`${root}dist/index.js`)) throw new Error('dist/ is not built: npm run build')
  const { AlfWorld, openEnvironment } = await import(`${root}dist/index.js`)
  const games = findGames().slice(0, option('games', 140))
  const stolen = watchHost()
  const peer = await startPeer()
  const own = { load: [], steps: [] }
  const theirs = { load: [], steps: [] }
  for (let round = 0; round < option('rounds', 5); round++) {
    // In small parts: on a busy machine the best of them tells what the work costs.
    for (let at = 0; at < games.length; at += 10) {
      const { load, steps } = await playAll(AlfWorld, games.slice(at, at + 10), option('steps', 100), round)
      own.load.push(load)
      own.steps.push(steps)
    }
    if (!peer) continue
    const real = await peer.play(games[round % games.length])
    theirs.load.push(real.load)
    theirs.steps.push(real.steps)
  }
  peer?.end()
  const best = { load: Math.min(...own.load), steps: Math.max(...own.steps) }
  printTable([
    row(
      'steps/s',
      median(own.steps),
      best.steps,
      `≥ ${TARGETS.steps}`,
      best.steps >= TARGETS.steps,
      median(theirs.steps),
    ),
    row(
      'load, ms a game',
      median(own.load),
      best.load,
      `< ${TARGETS.load}`,
      best.load < TARGETS.load,
      median(theirs.load),
    ),
  ])
  if (peer) {
    const faster = median(own.steps) / median(theirs.steps)
    console.log(
      `against textworld: ${format(faster)} × the steps, ${format(median(theirs.load) / median(own.load))} × faster to load`,
    )
  }
  const idle = await crowd(1000, async () => ({ step: async () => false }))
  const { lag, rate } = await crowd(1000, async (at) => {
    const world = await openEnvironment('alfworld')
    await world.reset({ row: { ...games[at % games.length] }, seed: 0 })
    const step = async (number) => {
      const possible = await world.admissible()
      return (await world.step(possible[(at + number * 7) % possible.length])).done
    }
    return { step }
  })
  const met = (is) => (is ? 'met' : 'MISSED')
  const megabytes = await openMany(AlfWorld, games, 1000)
  console.log(
    `1,000 episodes open, each of its own game: ${format(megabytes)} MB: target < ${TARGETS.memory} ${met(megabytes < TARGETS.memory)}`,
  )
  console.log(
    `event loop with 1,000 episodes, ${format(rate)} steps/s: lag p99 ${format(lag)} ms, ${format(idle.lag)} with the same waiting and no games: target < ${TARGETS.lag} ${met(lag < TARGETS.lag)}`,
  )
  const share = stolen()
  if (share !== undefined) console.log(`the host took ${format(share * 100)} % of the processors' time`)
}

function row(what, usual, best, target, isMet, textworld) {
  return {
    what,
    median: format(usual),
    best: format(best),
    target: `${target} ${isMet ? 'met' : 'MISSED'}`,
    textworld: Number.isNaN(textworld) ? '' : format(textworld),
  }
}

/** Milliseconds of processor time, garbage collection included: what others do meanwhile counts less than on a clock. */
async function processorTime(work) {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

/** Every game from scratch, then so many commands drawn from those that are possible. */
async function playAll(AlfWorld, games, steps, round) {
  let [loading, playing, count] = [0, 0, 0]
  let seed = round + 1
  const draw = (below) => {
    seed = (seed * 48271) % 2147483647
    return seed % below
  }
  for (const game of games) {
    const world = new AlfWorld()
    loading += await processorTime(() =>
      world.reset({ row: { ...game, task: `${game.task}${' '.repeat(round)}` }, seed: 0 }),
    )
    playing += await processorTime(() => {
      for (let step = 0; step < steps; step++) {
        const possible = world.admissible()
        count++
        if (world.step(possible[draw(possible.length)]).done) break
      }
    })
  }
  return { load: loading / games.length, steps: (count / playing) * 1000 }
}

/** Many episodes at once, as workflows play them: each waits for a model before every step, some tenths of a second. */
async function crowd(episodes, open) {
  const lag = monitorEventLoopDelay({ resolution: 1 })
  lag.enable()
  let steps = 0
  const start = performance.now()
  await Promise.all(
    Array.from({ length: episodes }, async (_, at) => {
      const episode = await open(at)
      for (let step = 0; step < 20; step++) {
        await sleep(200 + ((at * 37 + step * 11) % 200))
        steps++
        if (await episode.step(step)) break
      }
    }),
  )
  const seconds = (performance.now() - start) / 1000
  lag.disable()
  return { lag: lag.percentile(99) / 1e6, rate: steps / seconds }
}

/** Megabytes of so many episodes after some steps, none of which shares its game. */
async function openMany(AlfWorld, games, episodes) {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc')
  collect()
  const before = process.memoryUsage().heapUsed
  const worlds = []
  for (let at = 0; at < episodes; at++) {
    const game = games[at % games.length]
    const world = new AlfWorld()
    await world.reset({ row: { ...game, task: `${game.task}${' '.repeat(at / games.length)}\t` }, seed: 0 })
    for (let step = 0; step < 10; step++) {
      const possible = world.admissible()
      world.step(possible[(at + step * 7) % possible.length])
    }
    worlds.push(world)
  }
  collect()
  const after = process.memoryUsage().heapUsed
  return worlds.length === episodes ? (after - before) / 2 ** 20 : Number.NaN
}

function findGames() {
  const packed = join(process.env.TRINITY_TEST_DATA ?? '', 'alfworld/games/valid_seen.jsonl.gz')
  if (process.env.TRINITY_TEST_DATA && existsSync(packed)) {
    return gunzipSync(readFileSync(packed))
      .toString()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
  }
  const folder = process.env.ALFWORLD_DATA
  const files = folder
    ? readdirSync(folder, { recursive: true }).filter((name) => /valid_seen.*game\.tw-pddl$/.test(name))
    : []
  if (files.length > 0) return files.map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')))
  throw new Error('no games: set ALFWORLD_DATA to the folder of alfworld-download, or TRINITY_TEST_DATA')
}

/** The real one, in a process of its own: plays the game that it is sent. */
const PEER = `
import json, os, random, sys, tempfile, time
import textworld
from alfworld.agents.environment.alfred_tw_env import AlfredDemangler
print("ready", flush=True)
for line in sys.stdin:
    game = json.loads(line)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "game.tw-pddl")
        json.dump(game, open(path, "w"))
        start = time.perf_counter()
        env = textworld.start(path, textworld.EnvInfos(admissible_commands=True), wrappers=[AlfredDemangler])
        state = env.reset()
        load = time.perf_counter() - start
    rng, steps, start = random.Random(0), 0, time.perf_counter()
    for _ in range(20):
        state, _, done = env.step(rng.choice(state["admissible_commands"]))
        steps += 1
        if done:
            break
    print(json.dumps({"load": load * 1000, "steps": steps / (time.perf_counter() - start)}), flush=True)
`

async function startPeer() {
  const python = process.env.TRINITY_PYTHON
  if (!python) return undefined
  const { DOMAIN } = await import(`${root}dist/environment/alfworld/builtin/domain.js`)
  const { GRAMMAR } = await import(`${root}dist/environment/alfworld/builtin/grammar.js`)
  const child = spawn(python, ['-u', '-c', PEER], { stdio: ['pipe', 'pipe', 'ignore'] })
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  const next = async () => (await lines.next()).value
  if ((await next()) !== 'ready') {
    console.log(`${python} has no textworld and alfworld: pip install 'textworld[pddl]' alfworld`)
    return undefined
  }
  return {
    async play(game) {
      child.stdin.write(`${JSON.stringify({ pddl_domain: DOMAIN, grammar: GRAMMAR, ...game })}\n`)
      return JSON.parse(await next())
    },
    end: () => child.stdin.end(),
  }
}
