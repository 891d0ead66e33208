import { expect, it } from 'vitest'
import { PrefixMemory, prefixOf } from './prefix-memory.js'

const prompt = (length: number, last = 0) => Int32Array.from({ length }, (_, i) => (i === length - 1 ? last : i * 7919))

it('knows whole pieces of what it has seen, and only from the beginning', () => {
  const memory = new PrefixMemory()
  expect(memory.known(prefixOf(prompt(100)))).toBe(0)
  memory.add(prefixOf(prompt(100)))
  expect(memory.known(prefixOf(prompt(200)))).toBe(96)
  expect(memory.known(prefixOf(prompt(64, 1)))).toBe(32)
  expect(memory.known(prefixOf(prompt(200).subarray(32)))).toBe(0)
  memory.clear()
  expect(memory.known(prefixOf(prompt(100)))).toBe(0)
})

it('forgets the oldest', () => {
  const memory = new PrefixMemory()
  memory.add(prefixOf(prompt(64)))
  for (let i = 0; i < 5000; i++) memory.add(prefixOf(Int32Array.from({ length: 32 }, (_, j) => i * 1000 + j)))
  expect(memory.known(prefixOf(prompt(64)))).toBe(0)
})
