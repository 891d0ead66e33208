import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import pc from 'picocolors'
import { TrinityError } from '../base/error.js'
import { redact } from '../base/secret/index.js'
import { lockHolders } from '../checkpoint/lock.js'
import { type RosterEntry, readRosters } from '../machine/ground/roster.js'
import { usePlugins } from '../plugin/use.js'
import { isOver } from '../synchronizer/status.js'
import { statusFolder } from '../synchronizer/status-store.js'
import { jobDirs } from './job-dirs.js'
import type { ExitCode } from './print.js'

export interface StatusOptions {
  jobDir?: string
  config?: string
  pluginDir?: string[]
  set?: string[]
  json?: boolean
}

/** Shows who works on a run: its processes, and the workers of its engines on every node. */
export async function status(options: StatusOptions): Promise<ExitCode> {
  await usePlugins(options.pluginDir)
  const jobs = await Promise.all(dirsOf(options).map(stateOf))
  if (options.json) process.stdout.write(`${redact(JSON.stringify(jobs, null, 2))}\n`)
  else for (const job of jobs) process.stdout.write(redact(`${linesOf(job, Date.now()).join('\n')}\n`))
  return 0
}

function dirsOf({ jobDir, config, set }: StatusOptions): string[] {
  if ((jobDir === undefined) === (config === undefined)) {
    throw new TrinityError('cli/usage', 'give either --job-dir or --config', { path: 'trinity status' })
  }
  const dirs = jobDir === undefined ? jobDirs(config as string, set) : [resolve(jobDir)]
  const there = dirs.filter((dir) => existsSync(dir))
  if (there.length > 0) return there
  throw new TrinityError('cli/no-run', `there is no run in ${dirs[0]}`, {
    path: config ?? jobDir,
    hint: 'a run creates its folder when it starts; check the configuration and the current folder',
  })
}

/** A process of a run; `waitsFor`: what it needs of another one. */
export interface RunProcess {
  readonly role: string
  readonly pid: number
  readonly host: string
  readonly waitsFor?: string
}

/** A run as it is now. */
export interface RunState {
  readonly dir: string
  readonly processes: readonly RunProcess[]
  readonly workers: readonly RosterEntry[]
}

async function stateOf(dir: string): Promise<RunState> {
  const statuses = await statusFolder(dir).read()
  const processes = (await lockHolders(dir)).map(({ role, pid, host }) => {
    const status = statuses.find((one) => one.name === role && one.pid === pid && !isOver(one))
    return { role, pid, host, waitsFor: status?.waits_for }
  })
  return { dir, processes, workers: await readRosters(join(dir, 'log')) }
}

export function linesOf({ dir, processes, workers }: RunState, now: number): string[] {
  const runs = processes.length > 0
  const who = processes.map(({ role, pid, host }) => `${role} (process ${pid} on ${host})`).join(', ')
  const lines = [`${pc.bold(dir)}  ${runs ? `runs: ${who}` : 'nobody works on it'}`]
  for (const { role, waitsFor } of processes) if (waitsFor !== undefined) lines.push(`  ${role}: ${waitsFor}`)
  if (workers.length === 0) return lines
  const rows = workers.map((one) => [one.name, one.node, gpuOf(one), ...doingOf(one, workers, runs, now), one.line])
  const table = [['worker', 'node', 'GPU', 'state', 'for', 'last line'], ...rows]
  const widths = table[0].map((_, i) => Math.max(...table.map((row) => row[i].length)))
  const padded = table.map((row) => row.map((cell, i) => cell.padEnd(widths[i])).join('  '))
  return [...lines, ...padded.map((line, i) => `  ${i === 0 ? pc.dim(line.trimEnd()) : line.trimEnd()}`)]
}

function gpuOf({ gpus }: RosterEntry): string {
  return gpus.length === 0 ? '-' : gpus.join(',')
}

/** What it does, or for whom it waits, and since when. Of a run that was killed, the last that is known. */
function doingOf(
  { name, state, doing, since }: RosterEntry,
  workers: readonly RosterEntry[],
  runs: boolean,
  now: number,
): [string, string] {
  const age = `${Math.max(0, Math.round((now - since) / 1000))} s`
  if (state !== 'ready') return [state, age]
  if (!runs) return ['gone with its run', age]
  return [doing.length === 0 ? waitOf(name, workers) : doing.join(', '), age]
}

/** Trainers need rollouts, and rollouts new weights: one that rests waits for those of the other kind that work. */
function waitOf(name: string, workers: readonly RosterEntry[]): string {
  const trains = isTrainer(name)
  const busy = workers.filter((one) => isTrainer(one.name) !== trains && one.state === 'ready' && one.doing.length > 0)
  if (busy.length === 0) return 'waits to be asked'
  return `waits for ${busy[0].name}${busy.length > 1 ? ` and ${busy.length - 1} more` : ''}`
}

function isTrainer(name: string): boolean {
  return /(^|\/)trainer_\d/.test(name)
}
