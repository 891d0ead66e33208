// Small worlds: steps and episodes a second of processor time, with the list of actions at every step, as a workflow asks
// for it; against Gymnasium where Python has it (TRINITY_PYTHON, else .venv). --steps=20000 --rounds=5
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { format, median, printTable, watchHost } from '../lib.mjs'

export const title = 'Small worlds'
export const about = 'steps/s and episodes/s of lakes, taxis, rooms and cards, against Gymnasium where it is installed'

const root = fileURLToPath(new URL('../../', import.meta.url))

const WORLDS = [
  { name: 'frozen_lake', args: { is_slippery: true }, real: 'FrozenLake-v1' },
  { name: 'cliff_walking', args: { is_slippery: true }, real: 'CliffWalking-v1' },
  { name: 'taxi', args: { is_rainy: true }, real: 'Taxi-v4' },
  { name: 'blackjack', args: {}, real: 'Blackjack-v1' },
  { name: 'sokoban', args: { dim_room: 6, num_boxes: 2 } },
  { name: 'number_line', args: {} },
  { name: 'ez_points', args: {} },
  { name: 'points24', args: {} },
  { name: 'card_blackjack', args: {} },
  { name: 'sudoku', args: {} },
]

/** Random actions, a new episode after the end of one; seconds of processor time for so many steps. */
const REAL = `
import sys, time
import gymnasium
name, steps = sys.argv[1], int(sys.argv[2])
env = gymnasium.make(name).unwrapped
env.action_space.seed(0)
actions = [env.action_space.sample() for _ in range(steps)]
env.reset(seed=0)
start = time.process_time()
for i, action in enumerate(actions):
    if env.step(action)[2]:
        env.reset(seed=i)
print(time.process_time() - start)
`

export async function run(options = []) {
  const option = (name, fallback) =>
    Number(options.find((given) => given.startsWith(`--${name}=`))?.slice(name.length + 3) ?? fallback)
  const [steps, rounds] = [option('steps', 20_000), option('rounds', 5)]
  if (!existsSync(`${root}dist/index.js`)) throw new Error('dist/ is not built: npm run build')
  const { openEnvironment } = await import(`${root}dist/index.js`)
  const taken = watchHost()
  const rows = []
  for (const { name, args, real } of WORLDS) {
    const world = await openEnvironment(name, args)
    const rates = { steps: [], episodes: [] }
    for (let round = 0; round <= rounds; round++) {
      const measured = { steps: await walk(world, steps), episodes: await begin(world, steps / 20) }
      // The first round warms up.
      if (round > 0) for (const [what, rate] of Object.entries(measured)) rates[what].push(rate)
    }
    await world.close()
    const peer = real && gymnasium(real, steps)
    rows.push({
      world: name,
      'steps/s': Math.round(median(rates.steps)),
      best: Math.round(Math.max(...rates.steps)),
      'episodes/s': Math.round(median(rates.episodes)),
      Gymnasium: peer ? Math.round(peer) : '',
      '× Gymnasium': peer ? format(median(rates.steps) / peer) : '',
    })
  }
  printTable(rows)
  const share = taken()
  if (share !== undefined) console.log(`the host took ${format(share * 100)} % of the processors' time`)
}

async function walk(world, steps) {
  await world.reset({ row: {}, seed: 0 })
  const before = process.cpuUsage()
  for (let i = 0; i < steps; i++) {
    const actions = (await world.admissible()) ?? ['0 0 1']
    const { done } = await world.step(actions[(i * 7919) % actions.length])
    if (done) await world.reset({ row: {}, seed: i % 50 })
  }
  return rate(steps, before)
}

async function begin(world, episodes) {
  const before = process.cpuUsage()
  for (let seed = 0; seed < episodes; seed++) await world.reset({ row: {}, seed })
  return rate(episodes, before)
}

function rate(count, before) {
  const { user, system } = process.cpuUsage(before)
  return (count / (user + system)) * 1e6
}

function gymnasium(id, steps) {
  const python = process.env.TRINITY_PYTHON || `${root}.venv/bin/python`
  const { status, stdout } = spawnSync(python, ['-c', REAL, id, String(steps)], { encoding: 'utf8' })
  return status === 0 ? steps / Number(stdout) : undefined
}
