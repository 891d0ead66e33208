import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../../src/machine/ground/free-port.js'

const path = process.env.TRINITY_RAY_PYTHON ?? ''

/** A Python with Ray, torch and Transformers. */
export const rayPython = {
  path,
  absent: path === '',
  note: path === '' ? ' (skipped: TRINITY_RAY_PYTHON names no Python with Ray, torch and transformers)' : '',
}

/** A real Ray whose nodes are all on this machine. */
export class RayCluster {
  readonly address: string
  readonly dashboard: string
  readonly #dir: string
  readonly #nodes: ChildProcess[] = []

  private constructor(dir: string, port: number, dashboard: number) {
    this.#dir = dir
    this.address = `127.0.0.1:${port}`
    this.dashboard = `http://127.0.0.1:${dashboard}`
  }

  /** One node for each number of processors; the first is the head. */
  static async start(cpus: readonly number[]): Promise<RayCluster> {
    // Ray's sockets want a short path
    const dir = mkdtempSync('/tmp/tr-')
    const [port, dashboard] = [await freePort(), await freePort()]
    const cluster = new RayCluster(dir, port, dashboard)
    const [head, ...others] = cpus
    const first = ['--head', `--port=${port}`, '--node-ip-address=127.0.0.1', `--temp-dir=${dir}`]
    try {
      await cluster.#add(head, [...first, `--dashboard-port=${dashboard}`])
      await cluster.#answers()
      for (const count of others) await cluster.add(count)
      return cluster
    } catch (error) {
      cluster.close()
      throw error
    }
  }

  /** Another node. */
  async add(cpus: number): Promise<void> {
    const before = this.#alive()
    await this.#add(cpus, [`--address=${this.address}`])
    while (this.#alive() <= before) await sleep(500)
  }

  /** As when its cable is cut: nobody says goodbye. */
  kill(node: number): void {
    for (const pid of below(this.#nodes[node].pid as number)) end(pid)
  }

  close(): void {
    for (const { pid } of this.#nodes.toReversed()) for (const one of below(pid as number)) end(one)
    rmSync(this.#dir, { recursive: true, force: true })
  }

  async #add(cpus: number, args: readonly string[]): Promise<void> {
    const all = ['start', '--block', '--disable-usage-stats', `--num-cpus=${cpus}`, '--object-store-memory=80000000']
    const env = { ...process.env, RAY_TMPDIR: this.#dir }
    const command = join(path, '..', 'ray')
    this.#nodes.push(spawn(command, [...all, ...args], { stdio: 'ignore', env }))
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

  #alive(): number {
    const code = `import ray; ray.init('${this.address}', log_to_driver=False, logging_level='ERROR'); print(sum(n['Alive'] for n in ray.nodes()))`
    return Number(
      execFileSync(path, ['-c', code], { stdio: ['ignore', 'pipe', 'ignore'] })
        .toString()
        .trim(),
    )
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

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // it was faster
  }
}
