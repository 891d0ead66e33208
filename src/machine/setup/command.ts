import { spawn } from 'node:child_process'

export interface Ended {
  readonly code: number | null
  /** The last lines of both streams. */
  readonly tail: readonly string[]
  /** It could not be started. */
  readonly missing: boolean
}

const KEPT = 60

/** Runs a program to its end, handing its lines on as they come. Ctrl-C ends it together with this process. */
export function runCommand(
  file: string,
  args: readonly string[],
  onLine: (line: string) => void,
  env: NodeJS.ProcessEnv = process.env,
): Promise<Ended> {
  return new Promise((resolve) => {
    const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'], env })
    const tail: string[] = []
    for (const stream of [child.stdout, child.stderr]) {
      let rest = ''
      stream.setEncoding('utf8')
      stream.on('data', (text: string) => {
        const lines = (rest + text).split('\n')
        rest = lines.pop() ?? ''
        for (const line of lines) take(line)
      })
      stream.on('end', () => take(rest))
    }
    const take = (line: string) => {
      if (line.trim() === '') return
      tail.push(line)
      if (tail.length > KEPT) tail.shift()
      onLine(line)
    }
    child.once('error', () => resolve({ code: null, tail, missing: true }))
    child.once('close', (code) => resolve({ code, tail, missing: false }))
  })
}
