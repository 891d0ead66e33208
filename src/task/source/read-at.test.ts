import type { FileHandle } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { readAt, UnexpectedEnd } from './read-at.js'

/** Node aborts the process on a read whose length does not fit 31 bits. */
function handle(size: number): { reads: number[]; handle: FileHandle } {
  const reads: number[] = []
  const read = async (_: Buffer, _offset: number, length: number, position: number) => {
    reads.push(length)
    return { bytesRead: Math.max(0, Math.min(length, size - position)) }
  }
  return { reads, handle: { read } as unknown as FileHandle }
}

it('reads more than 2 GiB in pieces', async () => {
  const size = 2 ** 31 + 10
  const { reads, handle: file } = handle(size)
  expect((await readAt(file, 0, size)).length).toBe(size)
  expect(reads.every((length) => length < 2 ** 31)).toBe(true)
  expect(reads.reduce((sum, length) => sum + length, 0)).toBe(size)
})

it('says when the file ends', async () => {
  await expect(readAt(handle(5).handle, 2, 4)).rejects.toBeInstanceOf(UnexpectedEnd)
})
