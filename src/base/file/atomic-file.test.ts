import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { atomicFile, writeJsonFile } from './atomic-file.js'

const dir = mkdtempSync(join(tmpdir(), 'trinity-atomic-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))
const path = join(dir, 'x.json')

it('a reader sees the old file until the new one is whole', async () => {
  writeFileSync(path, 'old')
  let between = ''
  await atomicFile(path, async (handle) => {
    await handle.writeFile('half')
    between = readFileSync(path, 'utf8')
    await handle.writeFile(' and half')
  })
  expect([between, readFileSync(path, 'utf8')]).toEqual(['old', 'half and half'])
})

it('a failure leaves the old file, and nothing beside it', async () => {
  await writeJsonFile(path, { a: [1] })
  const failing = atomicFile(path, async (handle) => {
    await handle.writeFile('half')
    throw new Error('the disk is full')
  })
  await expect(failing).rejects.toThrow('the disk is full')
  expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({ a: [1] })
  expect(readdirSync(dir)).toEqual(['x.json'])
})
