type Exit = typeof process.exit

/**
 * Where the way out is kept while `process.exit` is watched: on the process, as a part of the program may be there twice, and not
 * on the function, as somebody may wrap that.
 */
const KEPT = Symbol.for('trinity-rft.exit')
const keeper = process as { [KEPT]?: Exit }

/**
 * Ends the process, also while `process.exit` is watched. Trinity's own code calls this function. Default: the exit code
 * that was set before, because `process.exit(undefined)` would reset it to 0.
 */
export function exit(code: number | string | null | undefined = process.exitCode): never {
  return (keeper[KEPT] ?? process.exit).call(process, code)
}

/** From here on `called` is what everybody else gets who calls `process.exit`. Gives a way back. */
export function watchExit(called: (code?: string | number | null) => never): () => void {
  const [before, kept] = [process.exit, keeper[KEPT]]
  keeper[KEPT] = kept ?? before
  process.exit = called as Exit
  return () => {
    process.exit = before
    keeper[KEPT] = kept
  }
}
