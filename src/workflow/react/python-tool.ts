import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import { TrinityError } from '../../base/error.js'
import { OwnedProcess } from '../../machine/owned-process.js'
import { type ReactTool, reactTool } from './tool.js'

/** Characters of what a program prints that the model reads. */
const MOST_OUTPUT = 8000

/** Kibibytes of address space: a mistake of the model must not take the machine's memory. */
const MOST_MEMORY = 4 << 20
const START = `ulimit -v ${MOST_MEMORY} 2>/dev/null; exec "$0" -I -`

/** How code of the model is run. */
export interface PythonToolOptions {
  /** The interpreter; default `python3`. */
  readonly python?: string
  /** How long it may take; default 30 s. */
  readonly timeoutMs?: number
}

/**
 * A tool that runs Python the model writes, in a process and an empty folder of its own, without the variables of this
 * process and with a time limit. It is no jail: the code may read files, write files and use the network as you may.
 */
export function pythonTool({ python = 'python3', timeoutMs = 30_000 }: PythonToolOptions = {}): ReactTool {
  return reactTool({
    name: 'execute_python_code',
    description: 'Runs Python code and gives what it printed. Print what you want to see.',
    parameters: z.object({ code: z.string().describe('The Python code to run.') }),
    run: ({ code }, { signal }) => execute(code, { python, timeoutMs, signal }),
  })
}

interface Execution {
  readonly python: string
  readonly timeoutMs: number
  readonly signal?: AbortSignal
}

async function execute(code: string, { python, timeoutMs, signal }: Execution): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'trinity-python-'))
  const { PATH, LANG } = process.env
  const child = new OwnedProcess({
    command: '/bin/sh',
    args: ['-c', START, python],
    cwd: folder,
    env: { PATH, LANG, HOME: folder, TMPDIR: folder },
    output: 'data',
  })
  child.keepsAlive(true)
  const kill = () => child.kill()
  const timer = setTimeout(kill, timeoutMs)
  signal?.addEventListener('abort', kill, { once: true })
  try {
    child.input.end(code)
    const printed = beginning(child.output)
    const { code: status, error, signal: killedBy } = await child.exited
    // what it has left running holds its output open
    child.kill()
    signal?.throwIfAborted()
    if (error) throw new TrinityError('react/python', `Python could not be started: ${error.message}`)
    const stdout = await printed
    const stderr = child.log.last().join('\n').slice(-MOST_OUTPUT)
    if (killedBy === 'SIGKILL') return report('-1', stdout, `${stderr}\nended after ${timeoutMs / 1000} s`.trimStart())
    return report(String(status ?? killedBy), stdout, stderr)
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', kill)
    child.kill()
    await rm(folder, { recursive: true, force: true, maxRetries: 3 })
  }
}

function report(code: string, stdout: string, stderr: string): string {
  return `<returncode>${code}</returncode><stdout>${stdout}</stdout><stderr>${stderr}</stderr>`
}

/** The rest is read and forgotten: a full pipe would hold the program up. */
async function beginning(stream: NodeJS.ReadableStream): Promise<string> {
  let text = ''
  stream.setEncoding('utf8')
  for await (const part of stream) if (text.length <= MOST_OUTPUT) text += part
  return text.length > MOST_OUTPUT ? `${text.slice(0, MOST_OUTPUT)}…` : text
}
