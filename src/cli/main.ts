#!/usr/bin/env node
import { CommanderError } from 'commander'
import { rememberAssignment } from '../base/secret/known.js'
import { endWithReader, leave } from './leave.js'
import type { ExitCode } from './print.js'
import { createProgram } from './program.js'
import type { strays } from './stray.js'

// wrong usage is told before any configuration is read
for (const word of process.argv) {
  rememberAssignment(word)
  rememberAssignment(word.replace(/^--?[\w-]+=/, ''))
}

const debug = process.argv.includes('--debug')

/** Exits by setting the code, so that everything written to a pipe still gets out. */
function done(code: ExitCode): void {
  process.exitCode = code
}

/** From the moment a command begins; help needs nothing of it. */
let watched: typeof strays | undefined
const program = createProgram(done).hook('preAction', async () => {
  watched = (await import('./stray.js')).strays
  watched.watch()
})

endWithReader()
try {
  await program.parseAsync(process.argv)
} catch (error) {
  if (error instanceof CommanderError) {
    // commander has printed its message; help and version are successes
    done(error.exitCode === 0 ? 0 : 2)
  } else {
    // loaded only here: colors cost a tenth of Node's own start
    const { exitCodeOf, formatError } = await import('./print.js')
    process.stderr.write(`${formatError(error, debug)}\n`)
    done(exitCodeOf(error))
  }
}
watched?.over()
leave()
