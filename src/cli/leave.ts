import { exit } from '../base/exit.js'

/** How long something that was left open may take to end by itself. */
const WAIT_MS = 3000

/**
 * The command is done. Node ends when nothing is open any more; a timer of a plugin or a call that nobody ends would
 * keep it for ever, so after a while the process ends whatever is open.
 */
export function leave(waitMs = WAIT_MS): void {
  const timer = setTimeout(() => {
    const text =
      `note: the command is done, but something stayed open for ${waitMs / 1000} s (a timer, a connection or a workflow ` +
      'that does not look at its signal): the process ends now\n'
    process.stderr.write(text, () => process.stdout.write('', () => exit()))
  }, waitMs)
  // It does not hold the process up itself.
  timer.unref()
}

/**
 * Whoever read the output has gone (`| head`): there is nobody to tell. A run saves first: it listens for itself. Any
 * other failure to write is one of the command.
 */
export function endWithReader(): void {
  const streams = { 'standard output': process.stdout, 'standard error': process.stderr }
  for (const [name, stream] of Object.entries(streams)) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') void import('./unwritable.js').then((one) => one.tellUnwritable(name, error))
      else if (stream.listenerCount('error') === 1) exit()
    })
  }
}
