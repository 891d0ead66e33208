import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { tempDir } from '../../test/support/temp-dir.js'
import { type ExperienceBuffer, openBuffer } from '../buffer/index.js'
import { createExperience } from '../experience/index.js'
import { ExperiencePipeline } from '../pipeline/index.js'
import { Commits } from './commits.js'
import { History } from './history.js'

class Side {
  readonly history: History
  readonly buffer: ExperienceBuffer
  readonly commits: Commits

  private constructor(history: History, buffer: ExperienceBuffer, commits: Commits) {
    this.history = history
    this.buffer = buffer
    this.commits = commits
  }

  /** `fault`: at this place the process dies, once. */
  static async open(dir: string, fault?: 'before put' | 'after put' | 'lost answer' | 'history away'): Promise<Side> {
    const history = await History.open(`sqlite:///${join(dir, 'history.db')}`)
    const buffer = await openBuffer(
      { name: 'b', storage_type: 'sql', path: `sqlite:///${join(dir, 'buffer.db')}`, max_read_timeout: 1 },
      {},
    )
    const put = async (...args: Parameters<ExperienceBuffer['put']>) => {
      const now = fault
      if (now !== 'after put' && now !== 'history away') fault = undefined
      if (now === 'before put') throw new Error('killed')
      await buffer.put(...args)
      if (now === 'lost answer') throw new Error('connection lost')
    }
    const output = { ...buffer, put } as unknown as ExperienceBuffer
    const pipeline = await ExperiencePipeline.open({ operators: [], output })
    const end = async (commit: number) => {
      if (fault === 'after put' && commit > 0) await new Promise(() => {})
      if (fault === 'history away' && commit > 0) {
        fault = undefined
        throw new Error('history lost')
      }
      await history.end(commit)
    }
    const begin = (commit: number) => history.begin(commit)
    const parts = { history: { begin, end }, pipeline, buffer, who: 'explorer', paired: false }
    return new Side(history, buffer, await Commits.open(parts))
  }

  async answer(id: string): Promise<void> {
    await this.history.record([createExperience({ eid: { suffix: id }, tokens: [1, 2], promptLength: 1 })])
    await this.history.rate({ ids: [id], reward: 1, task: 't', run: 0 })
  }

  /** Everything that a trainer would get. */
  async taken(): Promise<string[]> {
    await this.buffer.finish('explorer')
    return (await this.buffer.take(100)).map(({ eid }) => `${eid.batch}:${eid.suffix}`)
  }

  async close(): Promise<void> {
    await this.history.close()
    await this.buffer.close()
  }
}

describe('Commits', () => {
  it('give everything with feedback to the buffer, once, also when several ask at a time', async () => {
    const side = await Side.open(await tempDir())
    await side.answer('a')
    await side.answer('b')
    const both = await Promise.all([side.commits.commit(), side.commits.commit()])
    expect(both.map(({ step, experiences }) => [step, experiences.length])).toEqual([
      [1, 2],
      [1, 0],
    ])
    await side.answer('c')
    expect((await side.commits.commit()).step).toBe(2)
    expect(await side.taken()).toEqual(['1:a', '1:b', '2:c'])
    await side.close()
  })

  it.each(['before put', 'lost answer', 'history away'] as const)(
    '%s: the next one brings what did not arrive, and only that',
    async (fault) => {
      const side = await Side.open(await tempDir(), fault)
      await side.answer('a')
      await expect(side.commits.commit()).rejects.toThrow(/killed|lost/)
      await side.answer('b')
      await side.commits.commit()
      const batch = fault === 'before put' ? 1 : 2
      expect(await side.taken()).toEqual(['1:a', `${batch}:b`])
      await side.close()
    },
  )

  it.each(['before put', 'after put'] as const)(
    'a process that dies %s loses nothing and gives nothing twice',
    async (fault) => {
      const dir = await tempDir()
      const first = await Side.open(dir, fault)
      await first.answer('a')
      const dead = first.commits.commit()
      if (fault === 'before put') await expect(dead).rejects.toThrow('killed')
      else await new Promise((resolve) => setTimeout(resolve, 100))
      await first.close()
      const second = await Side.open(dir)
      expect(second.commits.step).toBe(fault === 'before put' ? 0 : 1)
      await second.answer('b')
      await second.commits.commit()
      const batch = fault === 'before put' ? 1 : 2
      expect(await second.taken()).toEqual(['1:a', `${batch}:b`])
      await second.close()
    },
  )

  it('refuse a buffer where an explorer of this name has run tasks', async () => {
    const dir = await tempDir()
    const side = await Side.open(dir)
    await side.buffer.put([], { who: 'explorer', mark: { version: 1, step: 3 } })
    await side.close()
    await expect(Side.open(dir)).rejects.toMatchObject({ code: 'serve/other-explorer', path: 'explorer.name' })
  })
})
