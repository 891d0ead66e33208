import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'

/** The command line as it was built; `npm test` builds it first. */
export const cli = process.env.TRINITY_TEST_CLI ?? fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))

export interface Ended {
  code: number | null
  signal: NodeJS.Signals | null
  stdout: string
  stderr: string
}

/**
 * Expects that a run has made all of its steps. A model with random weights may earn the same reward everywhere: then its
 * weights do not change, and the exit code is 3.
 */
export function expectComplete({ code, stdout, stderr }: Pick<Ended, 'code' | 'stdout' | 'stderr'>): void {
  if (code === 3) expect(stdout).toMatch(/partial +ended after \d+ steps?: .*the weights did not change/)
  else expect(code, stdout + stderr).toBe(0)
}

/** Starts the command line; `seen` is told everything it prints. */
export function trinity(
  cwd: string,
  args: readonly string[],
  seen: (text: string, child: ChildProcess) => void = () => {},
  env: NodeJS.ProcessEnv = {},
): Promise<Ended> {
  const stdio = ['ignore', 'pipe', 'pipe'] as const
  const child = spawn(process.execPath, [cli, ...args], { cwd, stdio: [...stdio], env: { ...process.env, ...env } })
  let [stdout, stderr] = ['', '']
  child.stdout.on('data', (data) => {
    stdout += data
    seen(stdout, child)
  })
  child.stderr.on('data', (data) => {
    stderr += data
  })
  return new Promise((resolve) => child.on('close', (code, signal) => resolve({ code, signal, stdout, stderr })))
}
