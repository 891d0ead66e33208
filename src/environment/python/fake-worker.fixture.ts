import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * A program that is started as Python is and speaks as trinity_world does. It takes calls in order. Steps say
 * what it does: `hang`, `slow`, `die`, `junk`, `stray`; `fail` is answered with an error, everything else with what came
 * and with how many others. Told where to, it calls home.
 */
export async function fakeWorker(folder: string): Promise<string> {
  const script = join(folder, 'fake-worker.cjs')
  await writeFile(script, SCRIPT)
  const python = join(folder, 'python')
  await writeFile(python, `#!/bin/sh\nexec ${process.execPath} ${script}\n`, { mode: 0o755 })
  return python
}

const SCRIPT = `
const [, port] = (process.env.TRINITY_WORLD_CONNECT ?? '').split(':')
const home = port && require('node:net').connect(Number(port), '127.0.0.1')
if (home) home.write(JSON.stringify({ token: process.env.TRINITY_WORLD_TOKEN }) + '\\n')
const [source, sink] = home ? [home, home] : [process.stdin, process.stdout]
let rest = Buffer.alloc(0)
let before = Promise.resolve()
const send = (answers) => {
  const text = Buffer.from(JSON.stringify(answers))
  const prefix = Buffer.alloc(4)
  prefix.writeUInt32LE(text.length)
  sink.write(Buffer.concat([prefix, text]))
}
async function take([id, op, slot, given], batch) {
  if (given === 'hang') await new Promise(() => {})
  if (given === 'slow') await new Promise((resolve) => setTimeout(resolve, 200))
  if (given === 'junk') sink.write('hello, world')
  if (given === 'stray') send([[999999, 1, {}]])
  if (given === 'die') {
    process.stderr.write('Segmentation fault\\n')
    process.exit(7)
  }
  const failure = { code: 'environment/failed', message: 'ValueError: no', trace: ['line 1', 'line 2'] }
  send([given === 'fail' ? [id, 0, failure] : [id, 1, { op, slot, given, batch }]])
}
process.stdin.on('end', () => process.exit()).resume()
source.on('data', (data) => {
  rest = Buffer.concat([rest, data])
  while (rest.length >= 4 && rest.length >= 4 + rest.readUInt32LE(0)) {
    const end = 4 + rest.readUInt32LE(0)
    const calls = JSON.parse(rest.subarray(4, end))
    rest = rest.subarray(end)
    for (const call of calls) before = before.then(() => take(call, calls.length))
  }
})
`
