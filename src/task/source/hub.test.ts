import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { MockHub } from '../../../test/hub/mock-hub.js'
import { openDataset } from './dataset.js'

const lines = (...numbers: number[]) => numbers.map((n) => JSON.stringify({ n })).join('\n')
let home: string
let hub: MockHub

async function start(files: Record<string, string>): Promise<void> {
  hub = new MockHub(files)
  vi.stubEnv('HF_ENDPOINT', await hub.start())
}
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'trinity-test-'))
  vi.stubEnv('HF_HOME', home)
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await hub.stop()
  await rm(home, { recursive: true, force: true })
})

async function numbers(split?: string, subset_name?: string): Promise<unknown[]> {
  const source = await openDataset({ path: 'org/name', split, subset_name })
  const found: unknown[] = []
  for await (const row of source.scan()) found.push(row.n)
  await source.close()
  return found
}

describe('a data set on a hub', () => {
  it('is read by its id, and only the wanted split is downloaded', async () => {
    await start({ 'data/train-00000-of-00001.jsonl': lines(1, 2), 'data/test-00000-of-00001.jsonl': lines(3) })
    expect(await numbers('test')).toEqual([3])
    expect(hub.downloads('train-00000-of-00001.jsonl').length).toBe(0)
    await hub.stop()
    expect(await numbers('test')).toEqual([3])
    await expect(numbers('train')).rejects.toMatchObject({ code: 'data/split' })
  })

  it('follows its data card', async () => {
    const card = '---\nconfigs:\n- config_name: main\n  data_files:\n  - split: train\n    path: x/*\n---\n'
    await start({ 'README.md': card, 'x/a.jsonl': lines(1), 'y/a.jsonl': lines(2) })
    expect(await numbers('train', 'main')).toEqual([1])
  })

  it('made by a script is read from its converted copy', async () => {
    await start({ 'name.py': 'print()' })
    await expect(numbers()).rejects.toMatchObject({ code: 'data/empty' })
    const bytes = await parquet([5, 6])
    hub.branches['refs/convert/parquet'] = { 'default/train/0000.parquet': bytes, 'default/test/0000.parquet': bytes }
    expect(await numbers('train')).toEqual([5, 6])
    await expect(numbers('train', 'other')).rejects.toMatchObject({ hint: 'found: default' })
    await hub.stop()
    expect(await numbers('train')).toEqual([5, 6])
  })

  it('that is not there says so', async () => {
    await start({})
    await expect(openDataset({ path: 'org/nmae' })).rejects.toMatchObject({ code: 'hub/not-found' })
  })
})

async function parquet(values: number[]): Promise<Buffer> {
  const { parquetWriteBuffer } = await import('hyparquet-writer')
  return Buffer.from(parquetWriteBuffer({ columnData: [{ name: 'n', data: values, type: 'INT32' }] }))
}
