import { randomBytes } from 'node:crypto'
import { resolve } from 'node:path'
import pc from 'picocolors'
import { TrinityError } from '../base/error.js'
import { readConfig } from '../config/index.js'
import { dashboardOf } from '../machine/ray/address.js'
import { followJob } from '../machine/ray/follow.js'
import { type RayJob, RayJobs, type Submission } from '../machine/ray/jobs.js'
import { passedOn } from '../machine/ray/passed-on.js'
import type { ExitCode } from './print.js'
import type { RunFlags } from './run.js'
import { quoted, shownOverride, typed } from './suggestion.js'

/** Ray kills a job so many seconds after it was asked to stop: enough for a step to end and to be saved. */
const STOP_S = 30

/** What surrounds the command: a program and its folder. */
export interface Caller {
  readonly cwd: string
  /** Node, and the script that it runs. */
  readonly program: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
}

const caller = (): Caller => ({
  cwd: process.cwd(),
  program: [process.execPath, resolve(process.argv[1])],
  env: process.env,
})

/** Runs the same command as a job of a Ray cluster, shows what it writes, and ends as it ends. */
export async function runOnRay(flags: RunFlags): Promise<ExitCode> {
  const { stages } = readConfig(flags.config, { set: flags.set })
  const [{ config }] = stages
  const given = typeof flags.ray === 'string' ? flags.ray : config.cluster.ray_address
  const jobs = new RayJobs(dashboardOf(given, process.env))
  const leave = new AbortController()
  try {
    const version = await jobs.version()
    const wanted = submissionOf(flags, `${config.project}-${config.name}`, caller())
    const id = await jobs.submit(wanted)
    process.stderr.write(`${pc.dim(`Ray ${version} at ${jobs.url} runs this as job ${id}; Ctrl-C stops it`)}\n`)
    const stopping = stopOnSignal(jobs, id, leave)
    const job = await followJob(jobs, id, {
      write: (text) => void process.stdout.write(printable(text)),
      signal: leave.signal,
    }).finally(stopping.close)
    return exitOf(job, id, stopping.code)
  } finally {
    jobs.close()
  }
}

/** The job that is this command, without what only concerns the way it is started. */
export function submissionOf(flags: RunFlags, name: string, { cwd, program, env }: Caller): Submission {
  const { config, pluginDir = [], set = [], fresh } = flags
  const secret = set.find((one) => shownOverride(one) !== one)
  if (secret !== undefined) {
    const key = secret.slice(0, secret.indexOf('='))
    throw new TrinityError('ray/secret', `--set ${key}=… would be shown to everybody who sees the dashboard of Ray`, {
      path: key,
      hint: 'set it in the environment that Ray was started with, and name the variable in the configuration',
    })
  }
  const options = ['-c', config, ...pluginDir.flatMap((dir) => ['--plugin-dir', dir])]
  options.push(...set.flatMap((one) => ['--set', one]))
  if (fresh) options.push('--fresh', '--yes')
  const enter = `cd ${quoted([cwd])} || { echo ${quoted([`this node has no folder ${cwd}`])} >&2; exit 2; }`
  return {
    id: `trinity-${name.replace(/[^\w-]+/g, '-').slice(0, 60)}-${randomBytes(4).toString('hex')}`,
    // the shell gives its place to the program, which is asked to stop itself
    entrypoint: `${enter}; exec ${quoted([...program, 'run', ...options])}`,
    env: { ...passedOn(env), RAY_JOB_STOP_WAIT_TIME_S: String(STOP_S) },
    metadata: { name, config },
  }
}

interface Stopping {
  /** Of a job that ended because we asked for it. */
  readonly code: ExitCode | undefined
  close(): void
}

/** A signal stops the job, which saves; a second one leaves it alone. */
function stopOnSignal(jobs: RayJobs, id: string, leave: AbortController): Stopping {
  let code: ExitCode | undefined
  const asked = (mine: ExitCode) => () => {
    if (code !== undefined) {
      const how = `no longer waiting: job ${id} was asked to stop, and ends within ${STOP_S} s`
      leave.abort(new TrinityError('ray/left', how))
      return
    }
    code = mine
    process.stderr.write('stopping the job: it finishes its step and saves; press Ctrl-C again not to wait for that\n')
    jobs.stop(id).catch((error: unknown) => leave.abort(error))
  }
  const [interrupt, terminate] = [asked(130), asked(143)]
  process.on('SIGINT', interrupt)
  process.on('SIGTERM', terminate)
  return {
    get code() {
      return code
    },
    close() {
      process.off('SIGINT', interrupt)
      process.off('SIGTERM', terminate)
    },
  }
}

const CODES: readonly ExitCode[] = [0, 1, 2, 3, 130, 143]

/** The exit code of the job, where it is one of ours; else an error that says how it ended. */
export function exitOf({ status, exitCode, message }: RayJob, id: string, asked: ExitCode | undefined): ExitCode {
  if (status === 'SUCCEEDED') return 0
  if (asked !== undefined) {
    process.stderr.write(typed(`stopped; to resume from the last checkpoint, run the same command again\n`))
    return asked
  }
  const known = CODES.find((code) => code === exitCode && code !== 0)
  if (status === 'FAILED' && known !== undefined) return known
  const how = status === 'STOPPED' ? 'was stopped by somebody else' : `failed${why(exitCode, message)}`
  const hint =
    exitCode === 126 || exitCode === 127
      ? 'Node and Trinity must be at the same path on the head of the cluster'
      : undefined
  throw new TrinityError('ray/job', `job ${id} ${how}`, { hint })
}

function why(exitCode: number | undefined, message: string): string {
  if (exitCode !== undefined) return ` with exit code ${exitCode}`
  const [first] = message.split('\n')
  return first ? `: ${printable(first).slice(0, 300)}` : ''
}

/** Text of elsewhere moves no cursor here. */
function printable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what is taken out
  return text.replace(/\u001b\[[\d;]*m|[\u0000-\u0008\u000b-\u001f\u007f]/g, '')
}
