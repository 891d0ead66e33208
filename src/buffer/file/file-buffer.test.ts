import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { createExperience } from '../../experience/create.js'
import type { Experience } from '../../experience/experience.js'
import { toJsonLine } from '../../experience/jsonl.js'
import { openBuffer } from '../open.js'
import { SequentialOrder } from './file-buffer.js'
import { JsonlFile, type Repair } from './jsonl-file.js'

const folder = mkdtempSync(join(tmpdir(), 'trinity-file-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
let made = 0
const place = () => join(folder, 'deep', `${made++}.jsonl`)
const experience = (task: number) => createExperience({ eid: { batch: 0, task }, tokens: [1, 2, task] })
const lines = (...tasks: number[]) => tasks.map((task) => `${toJsonLine(experience(task))}\n`).join('')
const tasks = (experiences: Experience[]) => experiences.map((e) => e.eid.task)

async function written(...list: number[]): Promise<string> {
  const path = place()
  const file = await JsonlFile.open(path)
  await file.append(list.map(experience))
  await file.close()
  return path
}

describe('a JSONL file', () => {
  it('is appended to and read by offset', async () => {
    const file = await JsonlFile.open(place())
    const offsets = [...(await file.append([experience(1)])), ...(await file.append([experience(2), experience(3)]))]
    expect(tasks(await file.read([offsets[2], offsets[0]]))).toEqual([3, 1])
    expect(await file.offsets()).toEqual(offsets)
    await file.close()
  })

  it('reads lines longer than its chunks, and passes over blank ones', async () => {
    const path = await written(1)
    const long = createExperience({ eid: { batch: 0, task: 9 }, tokens: [1, 2], promptText: 'x'.repeat(3_000_000) })
    appendFileSync(path, `\n  \n${toJsonLine(long)}\n${lines(2)}`)
    const file = await JsonlFile.open(path)
    const offsets = await file.offsets()
    expect(tasks(await file.read(offsets))).toEqual([1, 9, 2])
    await file.close()
  })

  it.each([1, 20, 100_000])('removes a last line that was cut off after %d bytes, and says so', async (bytes) => {
    const path = await written(1, 2)
    const whole = readFileSync(path).length
    appendFileSync(path, 'x'.repeat(bytes))
    const repairs: Repair[] = []
    const config = { name: 'b', storage_type: 'file', path }
    const buffer = await openBuffer(config, { onRepair: (repair) => repairs.push(repair) })
    expect(repairs).toEqual([{ path, removedBytes: bytes }])
    await buffer.put([experience(3)])
    expect(tasks(await buffer.take(3))).toEqual([1, 2, 3])
    await buffer.close()
    expect(readFileSync(path).length).toBeGreaterThan(whole)
  })

  it('keeps a last record that only lacks its line break', async () => {
    const path = await written(1)
    appendFileSync(path, lines(2).trimEnd())
    const before = readFileSync(path, 'utf8')
    const reading = await openBuffer({ name: 'b', storage_type: 'file', path })
    expect(tasks(await reading.take(2))).toEqual([1, 2])
    await reading.close()
    expect(readFileSync(path, 'utf8')).toBe(before)
    const file = await JsonlFile.open(path)
    await file.append([experience(3)])
    expect(tasks(await file.read(await file.offsets()))).toEqual([1, 2, 3])
    await file.close()
  })

  it('names a damaged line in the middle', async () => {
    const path = place()
    await (await JsonlFile.open(path)).close()
    writeFileSync(path, `${lines(1)}{"half": \n${lines(2)}`)
    const buffer = await openBuffer({ name: 'b', storage_type: 'file', path })
    await expect(buffer.take(3)).rejects.toMatchObject({
      code: 'experience/corrupt',
      path: expect.stringContaining(path),
    })
    await buffer.close()
  })

  it('has to be named so', async () => {
    await expect(JsonlFile.open(join(folder, 'x.txt'))).rejects.toMatchObject({ code: 'buffer/path' })
  })
})

describe('a file buffer', () => {
  it('goes through its data epoch by epoch and drops an incomplete last batch', async () => {
    const path = await written(0, 1, 2, 3, 4)
    const buffer = await openBuffer({ name: 'b', storage_type: 'file', path, total_epochs: 2 })
    expect(tasks(await buffer.take(4))).toEqual([0, 1, 2, 3])
    expect(tasks(await buffer.take(4))).toEqual([4, 0, 1, 2])
    expect(await buffer.take(4)).toEqual([])
    await buffer.close()
  })

  it('stops after total_steps, whatever the size of the data', async () => {
    const path = await written(0, 1, 2)
    const buffer = await openBuffer({ name: 'b', storage_type: 'file', path, total_steps: 3, batch_size: 2 })
    const seen = [await buffer.take(2), await buffer.take(2), await buffer.take(2), await buffer.take(2)]
    expect(seen.map(tasks)).toEqual([[0, 1], [2, 0], [1, 2], []])
    await buffer.close()
  })

  it('goes on after a restore where the cut was, with what is left of the total', async () => {
    const path = await written(0, 1, 2, 3)
    const config = { name: 'b', storage_type: 'file', path, total_epochs: 2 }
    const buffer = await openBuffer(config)
    await buffer.take(3)
    const cut = JSON.parse(JSON.stringify(await buffer.cut()))
    await buffer.close()
    const again = await openBuffer(config)
    expect(await again.restore(cut)).toEqual({ ready: 5, voided: 0 })
    expect(tasks(await again.take(5))).toEqual([3, 0, 1, 2, 3])
    expect(await again.take(1)).toEqual([])
    await again.close()
  })

  it('reads any source in any order, and cannot be written to then', async () => {
    const source = {
      length: 3,
      read: async (indices: readonly number[]) => indices.map(experience),
      close: async () => {},
    }
    let at = 3
    const order = { next: (n: number) => Array.from({ length: n }, () => --at), save: () => at, load: () => {} }
    const buffer = await openBuffer({ name: 'b', storage_type: 'file' }, { source, order })
    expect(tasks(await buffer.take(3))).toEqual([2, 1, 0])
    await expect(buffer.put([experience(1)])).rejects.toMatchObject({ code: 'buffer/read-only' })
    await buffer.close()
  })

  it('reads the next batch ahead without moving on', async () => {
    const read: number[] = []
    const source = {
      length: 6,
      read: async (rows: readonly number[]) => {
        read.push(...rows)
        if (rows.includes(4)) throw new Error('row 4 is damaged')
        return rows.map(experience)
      },
      close: async () => {},
    }
    const open = () => openBuffer({ name: 'b', storage_type: 'file' }, { source, order: new SequentialOrder(() => 6) })
    const buffer = await open()
    expect(tasks(await buffer.take(2))).toEqual([0, 1])
    await vi.waitFor(() => expect(read).toEqual([0, 1, 2, 3]))
    const cut = await buffer.cut()
    expect(await buffer.state()).toMatchObject({ taken: 2, ready: 4 })
    // another number than was read ahead
    expect(tasks(await buffer.take(1))).toEqual([2])
    expect(tasks(await buffer.take(1))).toEqual([3])
    // what is damaged is only told when it is asked for, and stays where it is
    for (let i = 0; i < 2; i++) await expect(buffer.take(1)).rejects.toThrow('row 4 is damaged')
    expect(await buffer.state()).toMatchObject({ taken: 4 })
    const again = await open()
    await again.restore(cut)
    expect(tasks(await again.take(2))).toEqual([2, 3])
    await buffer.close()
    await again.close()
  })

  it('names a folder in place of its file', async () => {
    const path = place()
    mkdirSync(path, { recursive: true })
    const problem = { code: 'file/unreadable', path, hint: 'give the path of a file' }
    await expect(openBuffer({ name: 'b', storage_type: 'file', path })).rejects.toMatchObject(problem)
  })

  it('says that there is no data', async () => {
    const path = place()
    const buffer = await openBuffer({ name: 'b', storage_type: 'file', path })
    await expect(buffer.take(1)).rejects.toMatchObject({ code: 'buffer/empty', path })
    expect(existsSync(path)).toBe(false)
    await buffer.close()
  })
})
