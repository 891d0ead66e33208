// What the pool and the protocol cost: the same actions through the world, and over a bare socket to the same Java program.
// Needs Java and the simulator (SCIENCEWORLD_JAR, or data/scienceworld/scienceworld.jar).
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { fileURLToPath } from 'node:url'
import { format, interleave, median, printTable, ratio } from '../lib.mjs'

export const title = 'ScienceWorld'
export const about =
  'steps/s of one Java process: over a bare socket, one episode, many episodes; target: 95 % of the socket'

const dist = new URL('../../dist/', import.meta.url)
const jar =
  process.env.SCIENCEWORLD_JAR ?? fileURLToPath(new URL('../../data/scienceworld/scienceworld.jar', import.meta.url))
const TASKS = [
  'boil',
  'find-plant',
  'power-component',
  'grow-plant',
  'inclined-plane-determine-angle',
  'lifespan-shortest-lived',
]
const ACTIONS = `teleport to kitchen|look around|open cupboard|pick up thermometer|examine thermometer|inventory|
teleport to greenhouse|look around|wait1|teleport to workshop|look around|nothing known|teleport to outside|look around|wait1`
  .replaceAll('\n', '')
  .split('|')
const EPISODES = 8

/** The least that can be asked of Java for a step: one write, one reply to each command. */
class Bare {
  static async start(flags) {
    const bare = new Bare()
    bare.java = spawn('java', [...flags, '-cp', jar, 'py4j.GatewayServer', '--die-on-broken-pipe', '0'], {
      // it leaves a file where it runs
      cwd: tmpdir(),
      stdio: ['pipe', 'pipe', 'ignore'],
    })
    const [port] = await once(bare.java.stdout, 'data')
    bare.java.stdout.resume()
    bare.socket = connect({ port: Number(port), host: '127.0.0.1', noDelay: true })
    bare.api = (await bare.ask('i\nscienceworld.runtime.pythonapi.PythonInterface\ne\n', 1)).slice(3, -1)
    return bare
  }

  /** Everything up to so many ends of lines. */
  ask(text, lines) {
    return new Promise((resolve) => {
      let all = ''
      const read = (chunk) => {
        all += chunk
        if (all.split('\n').length <= lines) return
        this.socket.off('data', read)
        resolve(all)
      }
      this.socket.on('data', read)
      this.socket.write(text)
    })
  }

  async play(task) {
    const call = (method, args = '') => `c\n${this.api}\n${method}\n${args}e\n`
    const rest = call('getScore') + call('getCompleted') + call('getNumMoves')
    await this.ask(call('load', `s${task}\ni0\nseasy\nbfalse\n`), 1)
    for (const action of ACTIONS) await this.ask(call('step', `s${action}\n`) + rest, 4)
  }

  end() {
    this.socket.destroy()
    this.java.stdin.end()
  }
}

export async function run() {
  if (!existsSync(jar)) throw new Error(`there is no simulator at ${jar}: set SCIENCEWORLD_JAR`)
  const { openEnvironment } = await import(new URL('index.js', dist).href)
  const { SAME_ORDER } = await import(new URL('environment/scienceworld/simulator/java.js', dist).href)
  const open = () => openEnvironment('scienceworld', { jar_path: jar, processes: 1, env_step_limit: 1000 })
  const play = async (world, task) => {
    await world.reset({ row: { task_name: task, var_num: 0 }, seed: 0 })
    for (const action of ACTIONS) await world.step(action)
  }
  const plain = await Bare.start([])
  const same = await Bare.start(['-XX:+UseSerialGC', ...SAME_ORDER])
  const worlds = await Promise.all(Array.from({ length: EPISODES }, open))
  const onceEach = (one) => async () => {
    for (let i = 0; i < EPISODES; i++) await one(TASKS[i % TASKS.length])
  }
  const results = await interleave(
    {
      'socket, Java as it is': onceEach((task) => plain.play(task)),
      'socket, our options': onceEach((task) => same.play(task)),
      'one episode': onceEach((task) => play(worlds[0], task)),
      [`${EPISODES} episodes at once`]: () =>
        Promise.all(worlds.map((world, i) => play(world, TASKS[i % TASKS.length]))),
    },
    { rounds: 5, warmup: 1 },
  )
  const steps = EPISODES * (ACTIONS.length + 1)
  printTable(
    Object.keys(results).map((name) => ({
      case: name,
      'steps/s': format((1000 * steps) / median(results[name].times)),
      'of Java as it is': format(1 / ratio(results, name, 'socket, Java as it is')),
      'of our options': format(1 / ratio(results, name, 'socket, our options')),
    })),
  )
  for (const bare of [plain, same]) bare.end()
  for (const world of worlds) await world.close()
}
