import { createWriteStream } from 'node:fs'
import { freemem } from 'node:os'
import { finished } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { TrinityError } from '../base/error.js'
import { OwnedProcess } from '../machine/owned-process.js'
import { treeUsage } from '../perf/process-tree.js'
import type { LengthTrial } from './length-search.js'

export interface TrialSettings {
  /** How this program is started: the interpreter and the script. */
  readonly program: readonly string[]
  readonly config: string
  readonly set: readonly string[]
  readonly length: number
  /** Main memory that it may hold, with all that it starts. */
  readonly memoryBytes: number
  readonly timeoutSeconds: number
  /** Gets everything that it prints. */
  readonly log: string
}

/** Between two looks at the memory. */
const LOOK_MS = 50
/** Left to everybody else, where nobody says how much a trial may take. */
const SHARE = 0.9
/** The exit code of a run that could not begin. */
const WRONG_USE = 2
const INCOMPLETE = 3
const NO_MEMORY = /not enough memory|out of memory|OutOfMemoryError|bad_alloc|native\/memory/i

export function freeShare(): number {
  return Math.floor(freemem() * SHARE)
}

/** Trains two steps with sequences of one length, in a process of their own. */
export async function tryLength(settings: TrialSettings): Promise<LengthTrial> {
  const { program, config, set, length, memoryBytes, timeoutSeconds, log } = settings
  const [command, ...first] = program
  const file = createWriteStream(log)
  file.on('error', () => {})
  const given = [...set, `model.max_model_len=${length}`].flatMap((one) => ['--set', one])
  const child = new OwnedProcess({
    command,
    args: [...first, 'run', '-c', config, '--end-with-stdin', '--fresh', '--yes', ...given],
    env: { ...process.env, NO_COLOR: '1' },
    log: (line) => file.write(`${line}\n`),
  })
  child.keepsAlive(true)
  let noMemory = false
  child.output.on('data', (text: string) => {
    noMemory ||= NO_MEMORY.test(text)
  })
  const deadline = performance.now() + timeoutSeconds * 1000
  let peakBytes = 0
  let stopped: 'memory' | 'time' | undefined
  while (child.exit === undefined && child.pid !== undefined) {
    peakBytes = Math.max(peakBytes, (await treeUsage(child.pid)).rssBytes)
    stopped ??= peakBytes > memoryBytes ? 'memory' : performance.now() > deadline ? 'time' : undefined
    if (stopped) child.kill()
    await Promise.race([child.exited, sleep(LOOK_MS)])
  }
  const { code, signal, error } = await child.exited
  await finished(child.output).catch(() => {})
  file.end()
  if (stopped) return { length, end: stopped, peakBytes }
  // a trial is short: whether it has learned does not matter
  if (code === 0 || code === INCOMPLETE) return { length, end: 'trained', peakBytes }
  const said = child.log.find('error ')
  // what the system kills, it kills for memory
  if (noMemory || signal === 'SIGKILL' || NO_MEMORY.test(said ?? '')) return { length, end: 'memory', peakBytes }
  // the run could not begin, and so this command cannot
  if (code === WRONG_USE && said !== undefined) {
    const hint = `a run with ${length} tokens says so; its output is in the file`
    throw new TrinityError('config/trial', said, { path: log, hint })
  }
  throw new TrinityError(
    'benchmark/trial',
    `a run with ${length} tokens failed: ${error?.message ?? said ?? `code ${code}`}`,
    {
      path: log,
      hint: 'this was not for want of memory; its output is in the file',
    },
  )
}
