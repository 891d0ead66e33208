import { setTimeout as sleep } from 'node:timers/promises'
import { TrinityError } from '../../base/error.js'
import { type Exit, OwnedProcess } from '../owned-process.js'
import { reaches } from '../reaches.js'
import { RayDriver } from './driver.js'

/** How often a node that finds no head tries again, and for how long. */
const AGAIN_MS = 5000
const MEET_MS = 600_000
const LOOK_MS = 1000
const LEAVE_MS = 30_000

/** One of the machines that a scheduler (PAI-DLC, torchrun's variables) has started together. */
export interface DlcNode {
  readonly rank: number
  readonly size: number
  readonly host: string
  readonly port: number
}

/** Who this machine is among those, by the variables of the scheduler. */
export function dlcNode(env: Readonly<Record<string, string | undefined>>): DlcNode {
  const text = (name: string) => {
    const value = env[name]?.trim()
    if (value) return value
    throw new TrinityError('cli/dlc', `--dlc: the variable ${name} is not set`, {
      path: name,
      hint: 'the scheduler sets RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT on every machine of the job',
    })
  }
  const count = (name: string, most: number) => {
    const value = Number(text(name))
    if (Number.isInteger(value) && value >= 0 && value <= most) return value
    throw new TrinityError('cli/dlc', `--dlc: ${name} is '${env[name]}'`, { path: name, hint: 'it is a whole number' })
  }
  const size = count('WORLD_SIZE', 1e6)
  const rank = count('RANK', Math.max(0, size - 1))
  return { rank, size, host: text('MASTER_ADDR'), port: count('MASTER_PORT', 65_535) }
}

export interface DlcSettings {
  /** With Ray. */
  readonly python: string
  readonly log: (line: string) => void
  readonly signal?: AbortSignal
  readonly meetMs?: number
}

/** The head of the cluster that these machines make, once all of them have come. */
export async function startHead({ size, host, port }: DlcNode, settings: DlcSettings): Promise<DlcHead> {
  const { meetMs = MEET_MS, signal, python, log } = settings
  const address = `${host}:${port}`
  const ray = start(['--head', `--node-ip-address=${host}`, `--port=${port}`], settings)
  const driver = new RayDriver(python, log)
  const until = performance.now() + meetMs
  const inTime = (found: number) => {
    signal?.throwIfAborted()
    if (ray.exit) throw ended(ray, ray.exit)
    if (performance.now() > until) throw missing(found, size, meetMs)
  }
  try {
    while (!(await reaches(host, port))) {
      inTime(0)
      await sleep(LOOK_MS)
    }
    let { nodes } = await driver.connect(address, '', {}, signal)
    while (nodes.length < size) {
      inTime(nodes.length)
      await sleep(LOOK_MS)
      nodes = (await driver.describe(signal)).nodes
    }
    return { address, close: () => leave(ray) }
  } catch (error) {
    await leave(ray)
    throw error
  } finally {
    await driver.close()
  }
}

export interface DlcHead {
  readonly address: string
  /** Ends the cluster, and with it every other machine's part. */
  close(): Promise<void>
}

/** A node of that cluster, until the head ends it. One that never finds the head fails. */
export async function serveNode({ host, port }: DlcNode, settings: DlcSettings): Promise<void> {
  const { meetMs = MEET_MS, signal } = settings
  const address = `${host}:${port}`
  const until = performance.now() + meetMs
  while (!(await reaches(host, port))) {
    signal?.throwIfAborted()
    if (performance.now() > until) {
      throw new TrinityError('ray/unreachable', `no head of Ray at ${address} within ${meetMs / 1000} s`, {
        path: 'MASTER_ADDR',
        hint: 'did the machine of rank 0 start, and is its port open for the others?',
      })
    }
    await sleep(AGAIN_MS)
  }
  const ray = start([`--address=${address}`], settings)
  const stop = () => void leave(ray)
  signal?.addEventListener('abort', stop, { once: true })
  // the other does not keep this process alive: the timer does
  const stay = setInterval(() => {}, AGAIN_MS)
  const exit = await ray.exited.finally(() => clearInterval(stay))
  signal?.throwIfAborted()
  // a node ends with its head, which is how the head says that all is done
  if (await reaches(host, port)) throw ended(ray, exit)
}

function start(args: readonly string[], { python, log }: DlcSettings): OwnedProcess {
  return new OwnedProcess({
    command: python,
    args: ['-m', 'ray.scripts.scripts', 'start', '--block', '--disable-usage-stats', ...args],
    // a node whose head is gone waits this long for another one
    env: { ...process.env, RAY_gcs_rpc_server_reconnect_timeout_s: '10' },
    log,
  })
}

/** Ray ends everything that it started when it is asked to. */
async function leave(ray: OwnedProcess): Promise<void> {
  if (ray.exit || ray.pid === undefined) return
  process.kill(ray.pid, 'SIGTERM')
  await ray.end(LEAVE_MS)
}

function ended(ray: OwnedProcess, { code, signal, error }: Exit): TrinityError {
  const how = error ? `could not be started: ${error.message}` : `ended (${signal ?? `exit code ${code}`})`
  const lines = ray.log.last().join('\n    ')
  return new TrinityError('ray/ended', `Ray ${how}`, {
    cause: lines ? new Error(`its last lines:\n    ${lines}`) : undefined,
  })
}

function missing(found: number, size: number, ms: number): TrinityError {
  return new TrinityError('ray/nodes', `${found} of ${size} nodes came to the head within ${ms / 1000} s`, {
    path: 'WORLD_SIZE',
    hint: 'look at the logs of the other machines of the job',
  })
}
