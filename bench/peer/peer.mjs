// A Python peer as a long-lived process: one JSON object per line in, one per line out (see protocol.py).
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/** `TRINITY_PEER_PYTHON`: a Python that has the peers, where it is not the tests' own (a GPU machine). */
const python = process.env.TRINITY_PEER_PYTHON || fileURLToPath(new URL('../../.venv/bin/python', import.meta.url))

export function peerAvailable() {
  // a bare name is looked for in PATH
  return !python.includes('/') || existsSync(python)
}

/**
 * `script`: train.py or generate.py. Gives `call({ cmd, … })`, one at a time, and `close()`, which ends when the process
 * has. `echo`: what the peer prints is shown as it comes.
 */
export function startPeer(script, { env = {}, echo = false } = {}) {
  if (!peerAvailable()) throw new Error('no Python environment to compare with: run scripts/test-python.sh first')
  const child = spawn(python, [fileURLToPath(new URL(script, import.meta.url))], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  })
  const ended = new Promise((resolve) => child.once('close', resolve))
  let log = ''
  child.stderr.on('data', (chunk) => {
    log = (log + chunk).slice(-4000)
    if (echo) process.stderr.write(chunk)
  })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return {
    /** After `seconds` without an answer the peer is killed. */
    async call(command, { seconds } = {}) {
      child.stdin.write(`${JSON.stringify(command)}\n`)
      const late = seconds && setTimeout(() => child.kill('SIGKILL'), seconds * 1000)
      const { value, done } = await lines.next()
      clearTimeout(late)
      if (done) throw new Error(`${script} ended: ${log}`)
      const answer = JSON.parse(value)
      if (!answer.ok) throw new Error(`${script}: ${answer.error}\n${log}`)
      return answer
    },
    /** One that does not end by itself, perhaps with a GPU in its hands, is killed. */
    async close() {
      child.stdin.end()
      const late = setTimeout(() => child.kill('SIGKILL'), 30_000)
      await ended
      clearTimeout(late)
    },
    kill() {
      child.kill('SIGKILL')
      return ended
    },
  }
}
