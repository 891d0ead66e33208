import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { TrinityError } from '../../../base/error.js'
import { OwnedProcess } from '../../../machine/owned-process.js'

export interface JavaSettings {
  readonly jar: string
  readonly heapMb: number
  readonly log?: (line: string) => void
}

/**
 * Things in a room lie in sets that are ordered by the hash of an object, which Java draws: with the hash always the same,
 * an episode is the same wherever and whenever it is played.
 */
export const SAME_ORDER = ['-XX:+UnlockExperimentalVMOptions', '-XX:hashCode=2']
/** One thread works: the collector that does not compete with it. A process without memory ends, and another begins. */
const MEMORY = ['-XX:+UseSerialGC', '-XX:+ExitOnOutOfMemoryError']
/** It ends when its standard input does, and chooses a port, which is the first thing it prints. */
const GATEWAY = ['py4j.GatewayServer', '--die-on-broken-pipe', '0']

/** Java starts within a second; a busy machine takes its time. */
const START_MS = 60_000

/** The program: of JAVA_HOME, or of PATH. */
export function javaCommand(env: NodeJS.ProcessEnv = process.env): string {
  const home = env.JAVA_HOME?.trim()
  return home ? join(home, 'bin', 'java') : 'java'
}

/** A simulator's process, before anybody has spoken to it. */
export function startJava({ jar, heapMb, log }: JavaSettings, command = javaCommand()): OwnedProcess {
  const flags = [`-Xmx${heapMb}m`, ...MEMORY, ...SAME_ORDER, '-cp', resolve(jar)]
  // the simulator writes a table of its own to where it runs
  return new OwnedProcess({ command, args: [...flags, ...GATEWAY], cwd: tmpdir(), output: 'data', log })
}

/** Connects as soon as the process has said where it listens. What is printed later is not kept. */
export async function connectTo(java: OwnedProcess): Promise<Socket> {
  java.keepsAlive(true)
  let late: NodeJS.Timeout | undefined
  const tooLate = new Promise<never>((_, reject) => {
    late = setTimeout(() => reject(notReady(`it said nothing for ${START_MS / 1000} s`, java)), START_MS)
  })
  const gone = java.exited.then((): never => {
    throw deathOf(java)
  })
  try {
    const port = await Promise.race([portOf(java), gone, tooLate])
    return await Promise.race([socketTo(port), gone, tooLate])
  } finally {
    clearTimeout(late)
    java.keepsAlive(false)
  }
}

/** The first line that is a number: options of the user's may print lines of their own before it. */
function portOf({ output }: OwnedProcess): Promise<number> {
  return new Promise((resolve) => {
    let text = ''
    const read = (chunk: Buffer) => {
      text = (text + chunk).slice(-10_000)
      const port = /^(\d{1,5})\r?\n/m.exec(text)?.[1]
      if (port === undefined) return
      output.off('data', read)
      output.resume()
      resolve(Number(port))
    }
    output.on('data', read)
  })
}

function socketTo(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    socket.once('connect', () => resolve(socket))
    socket.once('error', reject)
  })
}

/** Why a simulator is no more. */
export function deathOf({ exit, log }: OwnedProcess): TrinityError {
  if (exit?.error) {
    return new TrinityError('environment/java-missing', `Java cannot be started: ${exit.error.message}`, {
      hint: 'install a Java runtime (8 or newer), or name its folder with JAVA_HOME',
    })
  }
  const how = exit?.signal ? `was ended by ${exit.signal}` : `ended with exit code ${exit?.code}`
  return new TrinityError('environment/simulator-died', `a simulator of ScienceWorld ${how}`, {
    hint: 'the episode that it was at is lost, the others go on in a new simulator',
    cause: linesOf(log.last()),
  })
}

function notReady(why: string, { log }: OwnedProcess): TrinityError {
  return new TrinityError('environment/java', `the simulator of ScienceWorld does not start: ${why}`, {
    cause: linesOf(log.last()),
  })
}

function linesOf(lines: readonly string[]): Error | undefined {
  return lines.length === 0 ? undefined : new Error(`the simulator's last lines:\n    ${lines.join('\n    ')}`)
}
