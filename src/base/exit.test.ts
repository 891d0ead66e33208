import { afterEach, expect, it, vi } from 'vitest'
import { exit, watchExit } from './exit.js'

afterEach(() => vi.restoreAllMocks())

it('ends the process while process.exit is watched, and only what others call is noticed', () => {
  const ended = vi.spyOn(process, 'exit').mockImplementation(() => undefined as never)
  const called: unknown[] = []
  const restore = watchExit((code) => {
    called.push(code)
    throw new Error('watched')
  })
  expect(() => process.exit(3)).toThrow('watched')
  expect(called).toEqual([3])
  expect(ended).not.toHaveBeenCalled()
  exit(4)
  expect(ended).toHaveBeenCalledWith(4)
  restore()
  process.exit(5)
  expect(ended).toHaveBeenLastCalledWith(5)
  expect(called).toEqual([3])
})

it('keeps the exit code that was set where none is given', () => {
  const ended = vi.spyOn(process, 'exit').mockImplementation(() => undefined as never)
  const before = process.exitCode
  try {
    process.exitCode = 3
    exit()
    expect(ended).toHaveBeenLastCalledWith(3)
  } finally {
    process.exitCode = before
  }
})

it('ends the process where somebody has wrapped the watched process.exit', () => {
  const ended = vi.spyOn(process, 'exit').mockImplementation(() => undefined as never)
  const restore = watchExit(() => exit(6))
  const watched = process.exit
  process.exit = ((code: number) => watched(code)) as typeof process.exit
  exit(4)
  expect(ended).toHaveBeenLastCalledWith(4)
  process.exit(5)
  expect(ended).toHaveBeenLastCalledWith(6)
  restore()
})
