import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import pc from 'picocolors'
import { TrinityError } from '../base/error.js'
import { redact } from '../base/secret/index.js'
import { isLoopback } from '../gateway/guard.js'
import type { StudioOptions } from '../studio/index.js'
import { interrupted } from './interrupted.js'
import { wholeNumber } from './number.js'
import type { ExitCode } from './print.js'
import { packageVersion } from './version.js'

export interface StudioCommandOptions {
  host?: string
  port?: string
  pluginDir?: string[]
}

/** What tests replace. */
export interface StudioWorld {
  readonly print: (text: string) => void
  /** Ends the server. */
  readonly signal: AbortSignal
  /** Folder of the built page. */
  readonly page?: string
  /** Each line of it asks for an address for another browser; default the terminal. */
  readonly input?: NodeJS.ReadableStream
}

/** `trinity studio`: shows the runs below some folders in a browser. It reads files; runs do not know of it. */
export async function studio(
  folders: readonly string[],
  options: StudioCommandOptions,
  world: Partial<StudioWorld> = {},
): Promise<ExitCode> {
  const port = wholeNumber('--port', options.port, 8080, 0, 65535)
  const { host = '127.0.0.1' } = options
  const given = (folders.length > 0 ? folders : ['.']).map((folder) => resolve(folder))
  for (const folder of given) {
    if (existsSync(folder)) continue
    throw new TrinityError('cli/usage', `there is no folder ${folder}`, {
      path: folder,
      hint: 'name one with runs in it',
    })
  }
  const { pluginDirs } = await import('../plugin/files.js')
  const program = [process.execPath, process.argv[1]]
  return serveStudio(
    { folders: given, host, port, program, pluginDirs: pluginDirs(options.pluginDir) },
    `Studio shows the runs below ${given.join(', ')}`,
    world,
  )
}

/** Serves until somebody ends it. */
export async function serveStudio(
  options: Omit<StudioOptions, 'version'>,
  title: string,
  { print = say, signal = interrupted(), page, input = terminal() }: Partial<StudioWorld>,
): Promise<ExitCode> {
  const { Studio, hasPage } = await import('../studio/index.js')
  if (!hasPage(page)) {
    throw new TrinityError('studio/no-page', 'the page of Studio has not been built', { hint: 'npm run build' })
  }
  const open = await Studio.open({ ...options, version: packageVersion(), page })
  print(redact(title))
  print(`  ${pc.bold(open.url)}`)
  const another = input ? ' Enter prints another;' : ''
  print(`The address lets one browser in, once.${another} Ctrl-C ends Studio; runs go on.`)
  const give = () => print(`  ${pc.bold(open.newUrl())}`)
  input?.on('data', give)
  const { host = '127.0.0.1' } = options
  if (!isLoopback(host)) print(`Others can read what passes between ${host} and a browser: there is no encryption.`)
  if (!signal.aborted) await once(signal, 'abort')
  input?.off('data', give)
  // a terminal that is listened to would keep the process alive
  input?.pause()
  await open.close()
  return 0
}

/** Where a person can press a key. */
function terminal(): NodeJS.ReadableStream | undefined {
  return process.stdin.isTTY ? process.stdin : undefined
}

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}
