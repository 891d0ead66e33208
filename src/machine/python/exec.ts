import { execFile } from 'node:child_process'

/** How a child process ended. `missing`: there is no such program, or it may not be run. */
export interface ExecResult {
  readonly status: 'ok' | 'failed' | 'missing' | 'timeout'
  readonly stdout: string
  readonly stderr: string
}

/** Runs a program to its end. Never throws; a program that takes too long is killed. */
export function execLocal(
  file: string,
  args: readonly string[],
  options: { timeoutMs?: number; input?: string } = {},
): Promise<ExecResult> {
  return new Promise((resolve) => {
    const limits = { timeout: options.timeoutMs ?? 5000, killSignal: 'SIGKILL', maxBuffer: 1 << 20 } as const
    try {
      const child = execFile(file, [...args], limits, (error, stdout, stderr) => {
        const code = error?.code as string | number | undefined
        const unstartable = code === 'ENOENT' || code === 'EACCES' || code === 'ENOTDIR' || code === 'ENOEXEC'
        const status = !error ? 'ok' : unstartable ? 'missing' : error.killed ? 'timeout' : 'failed'
        resolve({ status, stdout, stderr })
      })
      // a child that ends before it has read its input breaks the pipe, which says nothing about the child
      child.stdin?.on('error', () => {})
      child.stdin?.end(options.input ?? '')
    } catch (error) {
      resolve({ status: 'missing', stdout: '', stderr: String(error) })
    }
  })
}
