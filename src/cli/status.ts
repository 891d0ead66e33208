import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import pc from 'picocolors'
import { TrinityError } from '../base/error.js'
import { redact } from '../base/secret/index.js'
import { lockHolders } from '../checkpoint/lock.js'
import { type RosterEntry, readRoster } from '../machine/ground/roster.js'
import { usePlugins } from '../plugin/use.js'
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

/** A run as it is now. */
export interface RunState {
  readonly dir: string
  readonly processes: readonly { readonly role: string; readonly pid: number; readonly host: string }[]
  readonly workers: readonly RosterEntry[]
}

async function stateOf(dir: string): Promise<RunState> {
  const processes = await lockHolders(dir)
  const roster = await readRoster(join(dir, 'log'))
  return { dir, processes, workers: roster?.workers ?? [] }
}

export function linesOf({ dir, processes, workers }: RunState, now: number): string[] {
  const runs = processes.length > 0
  const who = processes.map(({ role, pid, host }) => `${role} (process ${pid} on ${host})`).join(', ')
  const lines = [`${pc.bold(dir)}  ${runs ? `runs: ${who}` : 'nobody works on it'}`]
  if (workers.length === 0) return lines
  const rows = workers.map((one) => [one.name, one.node, gpuOf(one), ...doingOf(one, runs, now), one.line])
  const table = [['worker', 'node', 'GPU', 'state', 'for', 'last line'], ...rows]
  const widths = table[0].map((_, i) => Math.max(...table.map((row) => row[i].length)))
  const padded = table.map((row) => row.map((cell, i) => cell.padEnd(widths[i])).join('  '))
  return [...lines, ...padded.map((line, i) => `  ${i === 0 ? pc.dim(line.trimEnd()) : line.trimEnd()}`)]
}

function gpuOf({ gpus }: RosterEntry): string {
  return gpus.length === 0 ? '-' : gpus.join(',')
}

/** What it does, or for whom it waits, and since when. Of a run that was killed, the last that is known. */
function doingOf({ state, doing, since }: RosterEntry, runs: boolean, now: number): [string, string] {
  const age = `${Math.max(0, Math.round((now - since) / 1000))} s`
  if (state !== 'ready') return [state, age]
  if (!runs) return ['gone with its run', age]
  return [doing.length === 0 ? 'waits to be asked' : doing.join(', '), age]
}
