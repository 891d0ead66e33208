import type { ExecResult, Host } from '../src/machine/doctor/host.js'

export interface Recording {
  env?: Record<string, string>
  platform?: NodeJS.Platform
  arch?: string
  /** Path → text. */
  files?: Record<string, string>
  /** Program → answer, for all arguments or by looking at them. A program that is not here is missing. */
  programs?: Record<string, Partial<ExecResult> | ((args: readonly string[], input?: string) => Partial<ExecResult>)>
  /** URL → body. */
  pages?: Record<string, string>
  /** host:port that accept connections. */
  ports?: readonly string[]
}

/** A machine that answers from a recording. */
export function fakeHost(recording: Recording = {}): Host {
  const { files = {}, programs = {}, pages = {}, ports = [] } = recording
  return {
    env: recording.env ?? {},
    platform: recording.platform ?? 'linux',
    arch: recording.arch ?? 'x64',
    cwd: '/somewhere',
    home: '/home/someone',
    async exec(file, args, options) {
      const answer = programs[file]
      if (answer === undefined) return { status: 'missing', stdout: '', stderr: '' }
      const given = typeof answer === 'function' ? answer(args, options?.input) : answer
      return { status: 'ok', stdout: '', stderr: '', ...given }
    },
    read: async (path) => files[path],
    get: async (url) => (pages[url] === undefined ? undefined : { status: 200, body: pages[url] }),
    reaches: async (address, port) => ports.includes(`${address}:${port}`),
  }
}
