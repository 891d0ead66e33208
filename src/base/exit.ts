/** Where a watched `process.exit` keeps what it stands for; a symbol of the process, as a part of the program may be there twice. */
const OWN = Symbol.for('trinity-rft.exit')

type Exit = typeof process.exit & { [OWN]?: Exit }

/** Ends the process for good, also where `process.exit` is watched. Code of our own calls this one. */
export function exit(code?: number): never {
  const now: Exit = process.exit
  return (now[OWN] ?? now).call(process, code)
}

/** From here on `called` is what everybody else gets who calls `process.exit`. Gives a way back. */
export function watchExit(called: (code?: string | number | null) => never): () => void {
  const before: Exit = process.exit
  process.exit = Object.assign(called, { [OWN]: before[OWN] ?? before }) as Exit
  return () => {
    process.exit = before
  }
}
