// A Python peer as a long-lived process: one JSON object per line in, one per line out (see protocol.py).
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const python = fileURLToPath(new URL('../../.venv/bin/python', import.meta.url))

export function peerAvailable() {
  return existsSync(python)
}

/** `script`: train.py or generate.py. Gives `call({ cmd, … })`, one at a time, and `close()`. */
export function startPeer(script) {
  if (!peerAvailable()) throw new Error('no Python environment to compare with: run scripts/test-python.sh first')
  const child = spawn(python, [fileURLToPath(new URL(script, import.meta.url))], { stdio: ['pipe', 'pipe', 'pipe'] })
  let log = ''
  child.stderr.on('data', (chunk) => {
    log = (log + chunk).slice(-4000)
  })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return {
    async call(command) {
      child.stdin.write(`${JSON.stringify(command)}\n`)
      const { value, done } = await lines.next()
      if (done) throw new Error(`${script} ended: ${log}`)
      const answer = JSON.parse(value)
      if (!answer.ok) throw new Error(`${script}: ${answer.error}`)
      return answer
    },
    close() {
      child.stdin.end()
    },
  }
}
