import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Channel, FromWorker, ToWorker } from './protocol.js'

/** How V8 begins to speak when it runs out of memory; what follows are pages of addresses. */
const OUT_OF_MEMORY = /<--- Last few GCs|FATAL ERROR: .*heap/

/** Processes that run. A loop in one does not notice that nobody is there any more. */
const running = new Set<ChildProcess>()
let isListening = false

function killWithUs(child: ChildProcess): void {
  running.add(child)
  child.once('exit', () => running.delete(child))
  if (isListening) return
  isListening = true
  process.once('exit', () => {
    for (const one of running) one.kill('SIGKILL')
  })
}

/**
 * Waits for the reason that V8 prints when it aborts, which may arrive after the exit event. At most a second, because a
 * descendant of the process may hold its stderr open.
 */
async function lastWords({ stderr }: ChildProcess): Promise<void> {
  if (!stderr || stderr.readableEnded) return
  const late = new AbortController()
  // a timer that keeps this process alive: neither the child nor its stderr does
  const timer = setTimeout(() => late.abort(), 1000)
  await once(stderr, 'end', { signal: late.signal }).catch(() => {})
  clearTimeout(timer)
}

/** A worker that is a process of its own. */
export function openProcess(memoryMb: number): Channel {
  const file = fileURLToPath(new URL('./worker.js', import.meta.url))
  const child = fork(file, [], {
    serialization: 'advanced',
    execArgv: [`--max-old-space-size=${memoryMb}`],
    stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
  })
  child.unref()
  child.channel?.unref()
  let isFull = false
  child.stderr?.on('data', (text: Buffer) => {
    isFull ||= OUT_OF_MEMORY.test(String(text))
    if (!isFull) process.stderr.write(text)
  })
  ;(child.stderr as unknown as { unref(): void } | null)?.unref()
  killWithUs(child)
  return {
    post: (message: ToWorker) => void child.send(message, () => {}),
    onMessage: (hear) => void child.on('message', (message) => hear(message as FromWorker)),
    onEnd(hear) {
      let failure: string | undefined
      child.on('error', (error) => {
        failure = error.message
      })
      child.once('exit', (code, signal) => {
        const how = signal === null ? `it ended with code ${code}` : `it was ended by ${signal}`
        const tell = () => hear(isFull ? `it took more than ${memoryMb} MB` : (failure ?? how))
        if (signal === 'SIGABRT') lastWords(child).then(tell)
        else tell()
      })
    },
    hold(isHeld) {
      for (const handle of [child, child.channel]) isHeld ? handle?.ref() : handle?.unref()
    },
    kill: () => void child.kill('SIGKILL'),
  }
}
