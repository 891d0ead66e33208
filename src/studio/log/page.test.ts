import { appendFile, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { tempDir } from '../../../test/support/temp-dir.js'
import { logPage } from './page.js'
import { Tail } from './tail.js'

let path: string
const line = (i: number) => `${i % 100 === 7 ? 'ERROR' : 'INFO'} 11-16 00:00:00 [trainer] step ${i} über\n`
const COUNT = 30_000

beforeAll(async () => {
  path = join(await tempDir(), 'trainer.log')
  await writeFile(path, Array.from({ length: COUNT }, (_, i) => line(i)).join(''))
})

const steps = (lines: readonly { text: string }[]) => lines.map(({ text }) => Number(/step (\d+)/.exec(text)?.[1]))

describe('pages of a log', () => {
  it('begin at the end and go back without a gap', async () => {
    const last = await logPage(path, 'trainer', { limit: 3 })
    expect(steps(last.lines)).toEqual([COUNT - 3, COUNT - 2, COUNT - 1])
    expect(last).toMatchObject({ atEnd: true, atBegin: false, isPartial: false })
    const before = await logPage(path, 'trainer', { limit: 2, before: last.from })
    expect(steps(before.lines)).toEqual([COUNT - 5, COUNT - 4])
    const after = await logPage(path, 'trainer', { limit: 3, after: before.to })
    expect(after.lines).toEqual(last.lines)
    expect(after.atEnd).toBe(true)
  })

  it('all of them together are the whole file, in both directions', async () => {
    const back: number[] = []
    for (let before: number | undefined; ; ) {
      const page = await logPage(path, 'trainer', { limit: 4999, before })
      back.unshift(...steps(page.lines))
      if (page.atBegin) break
      before = page.from
    }
    const all = Array.from({ length: COUNT }, (_, i) => i)
    expect(back).toEqual(all)
    const forth: number[] = []
    for (let after = 0; ; ) {
      const page = await logPage(path, 'trainer', { limit: 4999, after })
      forth.push(...steps(page.lines))
      if (page.atEnd) break
      after = page.to
    }
    expect(forth).toEqual(all)
  })

  it('are filtered by level and text, also with lines that a filter leaves far apart', async () => {
    const { lines } = await logPage(path, 'trainer', { limit: 2, level: 'WARNING' })
    expect(steps(lines)).toEqual([COUNT - 193, COUNT - 93])
    const one = await logPage(path, 'trainer', { limit: 5, text: 'STEP 12 ÜBER' })
    expect(steps(one.lines)).toEqual([12])
    expect(one.atBegin).toBe(true)
  })

  it('a search that has looked at enough says so and can go on', async () => {
    const part = await logPage(path, 'trainer', { limit: 5, text: 'step 12 über', most: 300_000 })
    expect(part).toMatchObject({ lines: [], isPartial: true, atBegin: false })
    const rest = await logPage(path, 'trainer', { limit: 5, text: 'step 12 über', before: part.from })
    expect(steps(rest.lines)).toEqual([12])
  })

  it('of two gigabytes cost no more than what is shown', async () => {
    const large = join(await tempDir(), 'large.log')
    await writeFile(large, 'INFO 11-16 00:00:00 [x] begin\n')
    // a hole takes no place on the disk
    await truncate(large, 2 ** 31)
    await appendFile(large, `\n${line(1)}${line(2)}`)
    const begun = process.cpuUsage()
    const page = await logPage(large, 'large', { limit: 2 })
    const { user, system } = process.cpuUsage(begun)
    expect(steps(page.lines)).toEqual([1, 2])
    expect((user + system) / 1e6).toBeLessThan(0.5)
  })
})

describe('the tail of a log', () => {
  it('gives whole lines with their places, and begins again where the file does', async () => {
    const file = join(await tempDir(), 'x.log')
    await writeFile(file, 'INFO one\n')
    const tail = new Tail(file)
    expect(await tail.read()).toEqual({ restarted: false, lines: [] })
    await appendFile(file, 'INFO two\nINFO th')
    expect((await tail.read()).lines).toEqual([{ at: 9, text: 'INFO two' }])
    await appendFile(file, 'ree\n')
    expect((await tail.read()).lines).toEqual([{ at: 18, text: 'INFO three' }])
    await writeFile(file, 'INFO new\n')
    expect(await tail.read()).toEqual({ restarted: true, lines: [{ at: 0, text: 'INFO new' }] })
  })
})
