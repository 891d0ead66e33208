// Processes that measure themselves at the same time.
import { fork } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const READY_MS = 120_000

/**
 * Starts all, waits until each is at work, has them measure while `during` waits, and gives their results in order. No
 * process is left behind, whatever happens. `during` gets a function that waits for seconds, or until a process fails.
 */
export async function group(sources, specs, during) {
  const children = specs.map(({ file, size }) => {
    const path = fileURLToPath(new URL(file, import.meta.url))
    const child = fork(path, [sources, JSON.stringify(size)], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
    const told = (key) =>
      new Promise((resolve, reject) => {
        child.on('message', (message) => message[key] && resolve(message[key]))
        child.once('exit', (status) => reject(new Error(`${file} ended with ${status}`)))
      })
    const [ready, result] = [told('ready'), told('result')]
    for (const one of [ready, result]) one.catch(() => {})
    return { child, ready, result, gone: new Promise((resolve) => child.once('exit', resolve)) }
  })
  const failed = Promise.race(children.map(({ result }) => result.then(() => new Promise(() => {}))))
  failed.catch(() => {})
  try {
    const late = sleep(READY_MS, undefined, { ref: false }).then(() => {
      throw new Error(`the processes are not at work after ${READY_MS / 1000} s`)
    })
    await Promise.race([Promise.all(children.map(({ ready }) => ready)), failed, late])
    for (const { child } of children) child.send('begin')
    await during((seconds) => Promise.race([sleep(1000 * seconds), failed]))
    for (const { child } of children) child.send('end')
    return await Promise.all(children.map(({ result }) => result))
  } finally {
    for (const { child } of children) child.kill('SIGKILL')
    await Promise.all(children.map(({ gone }) => gone))
  }
}
