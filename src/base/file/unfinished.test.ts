import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it, vi } from 'vitest'
import { unlessInterrupted } from './unfinished.js'

const root = mkdtempSync(join(tmpdir(), 'trinity-unfinished-'))
afterAll(() => rmSync(root, { recursive: true }))

/** Interrupts in the middle of the work; gives what the process would have ended with. */
async function interrupt(path: string, signal: 'SIGINT' | 'SIGTERM', more = () => {}): Promise<unknown> {
  const exit = vi.spyOn(process, 'exit').mockImplementation((() => {}) as () => never)
  try {
    await unlessInterrupted(path, async () => {
      mkdirSync(path)
      writeFileSync(join(path, 'weights'), 'some')
      more()
      process.emit(signal)
    })
    return exit.mock.calls[0]?.[0]
  } finally {
    exit.mockRestore()
  }
}

it.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)('%s takes away what is not whole', async (signal, code) => {
  const others = process.rawListeners(signal)
  process.removeAllListeners(signal)
  const whole = join(root, `whole-${signal}`)
  await unlessInterrupted(whole, async () => mkdirSync(whole))
  expect(await interrupt(join(root, signal), signal)).toBe(code)
  expect(existsSync(join(root, signal))).toBe(false)
  expect(existsSync(whole)).toBe(true)
  expect(process.rawListeners(signal)).toEqual([])
  for (const other of others) process.on(signal, other as () => void)
})

it.each(['on', 'once'] as const)('leaves the end to whoever else listens (%s)', async (how) => {
  const others = process.rawListeners('SIGINT')
  process.removeAllListeners('SIGINT')
  const heard = vi.fn()
  const path = join(root, how)
  process[how]('SIGINT', heard)
  expect(await interrupt(path, 'SIGINT')).toBeUndefined()
  expect(heard).toHaveBeenCalledOnce()
  expect(existsSync(join(path, 'weights'))).toBe(true)
  process.off('SIGINT', heard)
  for (const other of others) process.on('SIGINT', other as () => void)
})
