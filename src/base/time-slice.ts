/**
 * Rendering a template or tokenizing a long text takes the thread for a moment. Thousands of rollouts that want this at
 * once would hold up timers, sockets and the engine; so each waits for its turn, and turns stop after a few milliseconds
 * to let everything else go on.
 */
const SLICE_MS = 5

const waiting: (() => void)[] = []
let pumping = false

/** Resolves when it is this caller's turn; what it does until its next await is its turn. */
export function timeSlice(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve)
    if (pumping) return
    pumping = true
    setImmediate(pump)
  })
}

async function pump(): Promise<void> {
  const begun = performance.now()
  let at = 0
  while (at < waiting.length && performance.now() - begun < SLICE_MS) {
    waiting[at++]()
    // The caller's continuation runs before ours: its turn counts against this slice.
    await null
  }
  waiting.splice(0, at)
  if (waiting.length > 0) setImmediate(pump)
  else pumping = false
}
