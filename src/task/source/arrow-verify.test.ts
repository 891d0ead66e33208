import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { readDamaged } from './damage.fixture.js'

let dir: string
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'trinity-test-'))
})
afterAll(() => rm(dir, { recursive: true, force: true }))

it.each(['values.feather', 'replaced.arrow', 'grown.arrow', 'lz4.feather', 'zstd.feather'])(
  '%s, damaged: an error that names the file, and little memory',
  async (name) => {
    // other test files of this process have taken theirs
    const before = process.memoryUsage().rss
    expect(await readDamaged(name, dir, 300)).toEqual([])
    expect(process.memoryUsage().rss - before).toBeLessThan(1e9)
  },
)
