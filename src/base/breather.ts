/** So long may work keep the event loop to itself. */
const STRETCH_MS = 5

/**
 * For long work in small pieces: what it gives is awaited after each piece, returns at once while the work is young, and
 * otherwise lets timers, sockets and everybody else go on first.
 */
export function breather(): () => Promise<void> | undefined {
  let begun = performance.now()
  return () => {
    if (performance.now() - begun < STRETCH_MS) return undefined
    return new Promise((resolve) => {
      setImmediate(() => {
        begun = performance.now()
        resolve()
      })
    })
  }
}
