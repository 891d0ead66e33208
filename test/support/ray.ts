import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { freePort } from '../../src/machine/ground/free-port.js'
import { reaches } from '../../src/machine/reaches.js'
import { Networks } from './networks.js'

const path = process.env.TRINITY_RAY_PYTHON ?? ''
const execute = promisify(execFile)
/** A machine that has much else to do takes minutes for what a quiet one does in ten seconds. */
const UP_MS = 600_000
const PORTS = [
  'dashboard-agent-grpc-port',
  'dashboard-agent-listen-port',
  'runtime-env-agent-port',
  'metrics-export-port',
]

/** A Python with Ray, torch and Transformers. */
export const rayPython = {
  path,
  absent: path === '',
  note: path === '' ? ' (skipped: TRINITY_RAY_PYTHON names no Python with Ray, torch and transformers)' : '',
}

/**
 * A real Ray whose nodes are all on this machine; `apart`: in networks of their own, as if they were not. `dashboard`,
 * which is most of its processes, takes jobs.
 */
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
  static async start(cpus: readonly number[], { apart = false, dashboard = false } = {}): Promise<RayCluster> {
    // Ray's sockets want a short path
    const dir = mkdtempSync('/tmp/tr-')
    const [port, page] = [await freePort(), await freePort()]
    const cluster = new RayCluster(dir, port, page, apart ? new Networks(cpus.length) : undefined)
    const [head, ...others] = cpus
    const first = ['--head', `--port=${port}`, `--temp-dir=${dir}`, `--include-dashboard=${dashboard}`]
    try {
      await cluster.#start(0, head, [...first, `--dashboard-port=${page}`])
      if (dashboard) await cluster.#takesJobs()
      for (const count of others) await cluster.add(count)
      return cluster
    } catch (error) {
      cluster.close()
      throw error
    }
  }

  /** Another node, also in place of one that was killed. */
  async add(cpus: number, node = this.#nodes.length): Promise<void> {
    await this.#start(node, cpus, [`--address=${this.address}`])
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

  /** Until Ray counts it as alive. Its node ends itself where an agent of it is slow to come: then it is started anew. */
  async #start(node: number, cpus: number, args: readonly string[]): Promise<void> {
    const before = await this.#alive()
    const own = [`--num-cpus=${cpus}`, `--node-ip-address=${this.host(node)}`, '--object-store-memory=80000000']
    // where its agents choose their ports, the node does not wait for them for long
    const ports = await Promise.all(PORTS.map(async (name) => `--${name}=${await freePort()}`))
    const all = ['start', '--block', '--disable-usage-stats', ...own, ...ports, ...args]
    const run = () => {
      this.#nodes[node] = this.#run(node, all)
      return this.#nodes[node]
    }
    let child = run()
    await until(`a node of Ray: ray ${all.join(' ')}`, async () => {
      // by its name: one that was killed counts as alive for a while
      if ((await this.#alive()).some((name) => !before.includes(name))) return true
      if (child.exitCode !== null || hasLostNode(child.pid as number)) {
        this.kill(node)
        child = run()
      }
      return false
    })
  }

  #run(node: number, args: readonly string[]): ChildProcess {
    // on a machine that has much else to do; Ray would have its workers come last there
    const patience = { RAY_raylet_start_wait_time_s: '300', RAY_worker_niceness: '0' }
    const env = { ...process.env, RAY_TMPDIR: this.#dir, ...patience }
    const ray = join(path, '..', 'ray')
    const [command, given] = this.#networks?.within(node, ray, args) ?? [ray, args]
    return spawn(command, given, { stdio: 'ignore', env })
  }

  async #takesJobs(): Promise<void> {
    const asks = async () => (await fetch(`${this.dashboard}/api/jobs/`)).ok
    await until('the dashboard of Ray', () => asks().catch(() => false))
  }

  /** The names of its nodes; none, while it starts. */
  async #alive(): Promise<string[]> {
    const [host, port] = this.address.split(':')
    const client = `from ray._raylet import GcsClient; nodes = GcsClient(address='${this.address}')`
    const code = `${client}.get_all_node_info(timeout=20); print(*[n.hex() for n, i in nodes.items() if i.state == 0])`
    if (!(await reaches(host, Number(port)))) return []
    const { stdout } = await execute(path, ['-c', code]).catch(() => ({ stdout: '' }))
    return stdout.split(/\s+/).filter(Boolean)
  }
}

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const late = performance.now() + UP_MS
  while (!(await holds())) {
    if (performance.now() > late) throw new Error(`not up after ${UP_MS / 1000} s: ${what}`)
    await sleep(500)
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

/** Whether the node that it started has ended; whoever started that may wait for minutes. */
function hasLostNode(pid: number): boolean {
  return below(pid).some((one) => {
    try {
      return /\(raylet\) Z /.test(readFileSync(`/proc/${one}/stat`, 'utf8'))
    } catch {
      return false
    }
  })
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
