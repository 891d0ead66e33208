import { readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { type ExecResult, execLocal } from '../python/exec.js'
import { reaches } from '../reaches.js'

export type { ExecResult }

/**
 * Everything a probe may ask of the machine. No method throws and each has a time limit, so no probe can hang or
 * fail the report; tests answer from recordings.
 */
export interface Host {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly platform: NodeJS.Platform
  readonly arch: string
  readonly cwd: string
  readonly home: string
  exec(file: string, args: readonly string[], options?: { timeoutMs?: number; input?: string }): Promise<ExecResult>
  /** Text of a file, or undefined when it cannot be read. */
  read(path: string): Promise<string | undefined>
  /** Status and the start of the body, or undefined when nobody answers. */
  get(url: string, timeoutMs: number): Promise<{ status: number; body: string } | undefined>
  /** Whether something accepts connections there. */
  reaches(address: string, port: number, timeoutMs: number): Promise<boolean>
}

export function localHost(): Host {
  return {
    env: process.env,
    platform: process.platform,
    arch: process.arch,
    cwd: process.cwd(),
    home: homedir(),
    exec: execLocal,
    read: (path) => readFile(path, 'utf8').catch(() => undefined),
    get: getUrl,
    reaches,
  }
}

async function getUrl(url: string, timeoutMs: number): Promise<{ status: number; body: string } | undefined> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(timeoutMs) })
    return { status: response.status, body: (await response.text()).slice(0, 10_000) }
  } catch {
    return undefined
  }
}
