import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { tempDir } from '../../../test/support/temp-dir.js'
import { Busy } from './busy.js'
import { spanned } from './span.js'
import { readSpan, SpanFile } from './span-file.js'

describe('spans', () => {
  it('are written with the times of the clock, and read again', async () => {
    const path = join(await tempDir(), 'spans', 'trainer.jsonl')
    const file = new SpanFile(path)
    const lane = file.lane('trainer')
    const failing = async () => {
      await new Promise((resolve) => setTimeout(resolve, 2))
      throw new Error('no')
    }
    const before = Date.now() / 1000
    await spanned(lane, ['work', 'trains', 3], () => new Promise<void>((resolve) => setTimeout(resolve, 20)))
    await expect(spanned(lane, ['sync', 'hands over'], failing)).rejects.toThrow('no')
    await file.close()
    const [first, second, rest] = (await readFile(path, 'utf8')).split('\n')
    const span = readSpan(first)
    expect(span).toMatchObject({ lane: 'trainer', kind: 'work', label: 'trains', step: 3 })
    expect(span?.begin).toBeGreaterThan(before - 0.1)
    expect(span?.seconds).toBeGreaterThan(0.015)
    expect(readSpan(second)).toMatchObject({ kind: 'sync', step: undefined })
    expect(rest).toBe('')
  })

  it('a line that is cut or not ours is none', () => {
    for (const line of ['["trainer","work","tr', '{}', '["a","dance","b",1,2]', '["a","work","b","1",2]', 'null'])
      expect(readSpan(line), line).toBeUndefined()
  })

  it('a folder that cannot be made harms nobody', async () => {
    const file = new SpanFile('/dev/null/spans/trainer.jsonl')
    file.lane('trainer').done('work', 'trains', 0)
    await file.close()
  })
})

describe('a lane with many requests at once', () => {
  it('works from the first to the last of them, and rests in between', async () => {
    const seen: { label: string; begun: number; ended: number }[] = []
    const busy = new Busy({ done: (_, label, begun, __, ended = 0) => seen.push({ label, begun, ended }) })
    const sleep = (ms: number) => busy.during(() => new Promise<void>((resolve) => setTimeout(resolve, ms)))
    await Promise.all([sleep(10), sleep(40), sleep(20)])
    await sleep(1)
    await new Promise((resolve) => setTimeout(resolve, 50))
    await sleep(1)
    busy.close()
    expect(seen.map(({ label }) => label)).toEqual(['4 requests', '1 request'])
    expect(seen[0].ended - seen[0].begun).toBeGreaterThan(38)
    expect(seen[1].begun - seen[0].ended).toBeGreaterThan(40)
  })
})
