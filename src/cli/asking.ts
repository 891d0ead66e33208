import { createInterface } from 'node:readline/promises'
import { TrinityError } from '../base/error.js'

export interface Terminal {
  readonly input: NodeJS.ReadableStream
  readonly output: NodeJS.WritableStream
  readonly terminal?: boolean
}

/**
 * Lets `use` ask whoever sits at the terminal. Ctrl-C and Ctrl-D are no answer but the end of the command: `instead`
 * says what was not done.
 */
export async function asking<T>(
  instead: string,
  use: (ask: (text: string) => Promise<string>) => Promise<T>,
  where: Terminal = { input: process.stdin, output: process.stdout },
): Promise<T> {
  const terminal = createInterface(where)
  const gone = new Promise<never>((_, reject) => {
    terminal.once('close', () => reject(new TrinityError('cli/interrupted', instead)))
  })
  // between questions nobody waits for it
  gone.catch(() => {})
  const ask = async (text: string) => {
    try {
      return await Promise.race([terminal.question(text), gone])
    } catch {
      // what comes next stands on a line of its own
      where.output.write('\n')
      return gone
    }
  }
  try {
    return await use(ask)
  } finally {
    terminal.close()
  }
}
