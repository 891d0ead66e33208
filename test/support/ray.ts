import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../../src/machine/ground/free-port.js'
import { Networks } from './networks.js'

const path = process.env.TRINITY_RAY_PYTHON ?? ''

/** A Python with Ray, torch and Transformers. */
export const rayPython = {
  path,
  absent: path === '',
  note: path === '' ? ' (skipped: TRINITY_RAY_PYTHON names no Python with Ray, torch and transformers)' : '',
}

/** A real Ray whose nodes are all on this machine; `apart`: in networks of their own, as if they were not. */
export class RayCluster {
  readonly address: string
  readonly dashboard: string
  readonly #dir: string
  readonly #nodes: ChildProcess[] = []
  readonly #networks: Networks | undefined

  private constructor(dir: string, port: number, dashboard: number, networks: Networks | undefined) {
    this.#dir = dir
    this.#networks = networks
    const host = networks?.hosts[0] ?? '127.0.0.1'
    this.address = `${host}:${port}`
    this.dashboard = `http://127.0.0.1:${dashboard}`
  }

  /** One node for each number of processors; the first is the head. */
  static async start(cpus: readonly number[], { apart = false } = {}): Promise<RayCluster> {
    // Ray's sockets want a short path
    const dir = mkdtempSync('/tmp/tr-')
    const [port, dashboard] = [await freePort(), await freePort()]
    const cluster = new RayCluster(dir, port, dashboard, apart ? new Networks(cpus.length) : undefined)
    const [head, ...others] = cpus
    const first = ['--head', `--port=${port}`, `--temp-dir=${dir}`, `--dashboard-port=${dashboard}`]
    try {
      cluster.#nodes.push(cluster.#start(0, head, first))
      await cluster.#answers()
      for (const count of others) await cluster.add(count)
      return cluster
    } catch (error) {
      cluster.close()
      throw error
    }
  }

  /** Another node, in place of one that was killed. */
  async add(cpus: number, node = this.#nodes.length): Promise<void> {
    let before = this.#alive()
    for (; before.length === 0; before = this.#alive()) await sleep(500)
    this.#nodes[node] = this.#start(node, cpus, [`--address=${this.address}`])
    // by its name: one that was killed counts as alive for a while
    while (this.#alive().every((name) => before.includes(name))) await sleep(500)
  }

  /** The address of a node. */
  host(node: number): string {
    return this.#networks?.hosts[node] ?? '127.0.0.1'
  }

  /** As when its cable is cut: nobody says goodbye. */
  kill(node: number): void {
    for (const pid of below(this.#nodes[node].pid as number)) end(pid)
  }

  close(): void {
    for (const { pid } of this.#nodes.toReversed()) for (const one of below(pid as number)) end(one)
    // what outlived those that started it
    for (const pid of mentioning(this.#dir)) end(pid)
    this.#networks?.close()
    rmSync(this.#dir, { recursive: true, force: true })
  }

  #start(node: number, cpus: number, args: readonly string[]): ChildProcess {
    const own = [`--num-cpus=${cpus}`, `--node-ip-address=${this.host(node)}`, '--object-store-memory=80000000']
    const all = ['start', '--block', '--disable-usage-stats', ...own, ...args]
    // on a machine that has much else to do
    const env = { ...process.env, RAY_TMPDIR: this.#dir, RAY_raylet_start_wait_time_s: '300' }
    const ray = join(path, '..', 'ray')
    const [command, given] = this.#networks?.within(node, ray, all) ?? [ray, all]
    return spawn(command, given, { stdio: 'ignore', env })
  }

  async #answers(): Promise<void> {
    for (let i = 0; i < 120; i++) {
      if (
        await fetch(`${this.dashboard}/api/version`).then(
          (answer) => answer.ok,
          () => false,
        )
      )
        return
      await sleep(1000)
    }
    throw new Error('Ray did not start')
  }

  /** The names of its nodes; none, while it starts. */
  #alive(): string[] {
    const names = "[n['NodeID'] for n in ray.nodes() if n['Alive']]"
    const code = `import ray; ray.init('${this.address}', log_to_driver=False, logging_level='ERROR'); print(*${names})`
    try {
      const said = execFileSync(path, ['-c', code], { stdio: ['ignore', 'pipe', 'ignore'], encoding: 'utf8' })
      return said.split(/\s+/).filter(Boolean)
    } catch {
      return []
    }
  }
}

/** A process and everything that it started. */
function below(pid: number): number[] {
  let text = ''
  try {
    text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
  } catch {
    return []
  }
  return [
    ...text
      .split(' ')
      .filter(Boolean)
      .flatMap((child) => below(Number(child))),
    pid,
  ]
}

/** Processes whose command names a folder. */
function mentioning(dir: string): number[] {
  const pids = readdirSync('/proc').map(Number).filter(Number.isInteger)
  return pids.filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(`${dir}/`)
    } catch {
      return false
    }
  })
}

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // it was faster
  }
}
