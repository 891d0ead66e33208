// Steps of FrozenLake through a worker of the user's Python, 1,000 episodes at once, against Gymnasium alone in one process
// with the same episodes and actions. Needs Python with gymnasium (TRINITY_PYTHON, else .venv).
// --episodes=1000 --steps=20 --rounds=5
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { format, interleave, printTable, ratio, watchHost } from '../lib.mjs'

export const title = 'Python environments: batched steps of FrozenLake'
export const about = 'steps/s through worker processes, against Gymnasium alone (needs Python with gymnasium)'

const TARGET = 10_000
const root = fileURLToPath(new URL('../../', import.meta.url))

/** The same work without us: as many environments, stepped one after the other, reset where they end. */
const ALONE = `
import sys
import gymnasium
episodes, steps = map(int, sys.argv[1:])
envs = [gymnasium.make("FrozenLake-v1") for _ in range(episodes)]
for seed, env in enumerate(envs):
    env.reset(seed=seed)
print("ready", flush=True)
for _ in sys.stdin:
    for step in range(steps):
        for number, env in enumerate(envs):
            _, _, terminated, truncated, _ = env.step((number + step) % 4)
            if terminated or truncated:
                env.reset(seed=number)
    print("done", flush=True)
`

export async function run(options = []) {
  const option = (name, fallback) =>
    Number(options.find((given) => given.startsWith(`--${name}=`))?.slice(name.length + 3) ?? fallback)
  const [episodes, steps, rounds] = [option('episodes', 1000), option('steps', 20), option('rounds', 5)]
  const python = process.env.TRINITY_PYTHON || `${root}.venv/bin/python`
  if (!existsSync(python)) throw new Error(`there is no ${python}: run scripts/test-python.sh`)
  if (!existsSync(`${root}dist/index.js`)) throw new Error('dist/ is not built: npm run build')
  const { openEnvironment } = await import(`${root}dist/index.js`)
  const peer = spawn(python, ['-u', '-c', ALONE, String(episodes), String(steps)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const lines = createInterface(peer.stdout)[Symbol.asyncIterator]()
  if ((await lines.next()).value !== 'ready') throw new Error(`${python} has no gymnasium`)

  const bridge = async (args) => {
    const open = () => openEnvironment('gymnasium', { id: 'FrozenLake-v1', python, ...args })
    const worlds = await Promise.all(Array.from({ length: episodes }, open))
    await Promise.all(worlds.map((world, seed) => world.reset({ row: {}, seed })))
    const play = async (world, number) => {
      for (let step = 0; step < steps; step++) {
        const { done } = await world.step(String((number + step) % 4))
        if (done) await world.reset({ row: {}, seed: number })
      }
    }
    return () => Promise.all(worlds.map(play))
  }
  const cases = {
    'Gymnasium alone': async () => {
      peer.stdin.write('go\n')
      await lines.next()
    },
    'its numbers, 1 worker': await bridge({ text: 'observation' }),
    'its numbers, 2 workers': await bridge({ text: 'observation', workers: 2 }),
    'as it draws itself, 1 worker': await bridge({ text: 'ansi' }),
  }
  const lag = monitorEventLoopDelay({ resolution: 1 })
  const taken = watchHost()
  lag.enable()
  const results = await interleave(cases, { rounds })
  lag.disable()
  peer.kill()
  const perSecond = (ms) => Math.round((episodes * steps * 1000) / ms)
  printTable(
    Object.entries(results).map(([name, { median, min }]) => ({
      case: name,
      'steps/s': perSecond(median),
      best: perSecond(min),
      '× alone': format(ratio(results, name, 'Gymnasium alone')),
      target: name.includes('numbers') ? `≥ ${TARGET} ${perSecond(median) >= TARGET ? 'met' : 'MISSED'}` : '',
    })),
  )
  const stolen = taken()
  console.log(
    `${episodes} episodes at once; event loop p99 ${format(lag.percentile(99) / 1e6)} ms${stolen === undefined ? '' : `; host took ${format(stolen * 100)} % of the processors`}`,
  )
}
