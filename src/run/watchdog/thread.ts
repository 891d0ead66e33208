/** The watching thread. It looks at the main thread's pulse, and acts when it stops. */

import { writeSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { type Files, placeOfFrame, userFrame } from './frames.js'
import { UnheardSignals } from './limit.js'
import { LOOK_MS, Pulse } from './pulse.js'
import { type BlockReport, blockedError } from './report.js'
import { onSignals } from './signals.js'
import { HeldStack } from './stack.js'

/** What the main thread gives. */
export interface ThreadData {
  /** Beats, and whether a debugger is there. */
  readonly shared: Int32Array
  readonly limitMs: number
  readonly files: Files
}

/** What the main thread is told. */
export type Told = { readonly kind: 'blocked' | 'busy' } & BlockReport

/** Continuations come and go: a loop of promises is caught in a user's code only now and then. */
const TRIES = 40
/** After its loop was broken the main thread has this long to show that it lives, and to save. */
const REVIVE_MS = 5000
const AGAIN_LIMIT_MS = 5000

const { shared, limitMs, files } = workerData as ThreadData
const pulse = new Pulse()
const unheard = new UnheardSignals()
const beats = () => Atomics.load(shared, 0)
const isDebugged = () => Atomics.load(shared, 1) !== 0
let isBroken = false
/** One line for each stretch of own work, which is looked at less and less often. */
let notedAt = -1
let patience = 1

/** The main thread has nothing left that could stand still. */
const closed = new AbortController()
parentPort?.once('message', () => closed.abort())

onSignals(['SIGINT', 'SIGTERM'], (name) => unheard.heard(name))
while (await pause(LOOK_MS)) {
  const blocked = pulse.look(beats())
  if (blocked < 2 * LOOK_MS) {
    unheard.clear()
    patience = 1
  }
  const limit = unheard.limit(patience * (isBroken ? Math.min(limitMs, AGAIN_LIMIT_MS) : limitMs))
  if (blocked < limit || isDebugged()) continue
  patience *= 2
  await act(blocked)
}

/** The loop has stood still for too long. */
async function act(blocked: number): Promise<void> {
  const before = beats()
  for (let i = 0; i < TRIES && beats() === before; i++) {
    const held = await HeldStack.take()
    if (!held) break
    if (beats() !== before || isDebugged()) return held.release()
    const user = userFrame(held.frames, files)
    const report = reportOf(held, user, blocked, user < 0 ? [] : await held.rollouts(user))
    if (unheard.isInsistent) return end(held, report, 130)
    if (user >= 0) return isBroken ? end(held, report, 1) : revive(held, report)
    held.release()
    if (i === TRIES - 1 && notedAt !== before) {
      notedAt = before
      tell({ kind: 'busy', ...report })
    }
    if (!(await pause(10))) return
  }
  if (unheard.isInsistent && beats() === before) kill('stopped immediately')
}

/** False: the wait was cut short, as nobody is to be watched any more. */
async function pause(ms: number): Promise<boolean> {
  const { signal } = closed
  await sleep(ms, undefined, { signal }).catch(() => {})
  return !signal.aborted
}

function reportOf(held: HeldStack, user: number, blocked: number, rollouts: readonly string[]): BlockReport {
  return { seconds: Math.round(blocked / 1000), place: placeOfFrame(held.frames[Math.max(0, user)]), rollouts }
}

/** Breaks the loop; the main thread fails the run and saves. */
async function revive(held: HeldStack, report: BlockReport): Promise<void> {
  isBroken = true
  const before = beats()
  if (!(await held.break())) return end(held, report, 1)
  tell({ kind: 'blocked', ...report })
  if ((await pause(REVIVE_MS)) && beats() === before) kill(inWords(report))
}

/** Nothing can be saved, or nobody wants it: ends the process where it stands. */
async function end(held: HeldStack, report: BlockReport, code: number): Promise<void> {
  writeSync(2, `${inWords(report)}\n`)
  await held.exit(code)
  await sleep(REVIVE_MS)
  kill('the process does not end by itself')
}

function kill(words: string): void {
  writeSync(2, `${words}\n`)
  process.kill(process.pid, 'SIGKILL')
}

function inWords(report: BlockReport): string {
  const { message, hint } = blockedError(report)
  return `error: ${message}\n  fix: ${hint}`
}

function tell(told: Told): void {
  parentPort?.postMessage(told)
}
