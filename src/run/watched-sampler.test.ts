import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { tempDir } from '../../test/support/temp-dir.js'
import type { SampleModel } from '../engine/contract.js'
import { readSpan, SpanFile } from '../monitor/span/span-file.js'
import { Closers } from './closers.js'
import { watchedSamplers } from './watched-sampler.js'

/** Keeps its state where nobody else can read it, as engines do. */
class Sampler {
  #version = 7
  get version(): number {
    return this.#version
  }
  stats() {
    return { running: this.#version }
  }
  async sample(request: unknown) {
    await new Promise((resolve) => setTimeout(resolve, 2))
    return [request, this.#version]
  }
}

it('a watched sampler does what it did, and leaves a trace', async () => {
  const path = join(await tempDir(), 'spans.jsonl')
  const closers = new Closers()
  const spans = closers.add(new SpanFile(path))
  const [one, two] = [new Sampler(), new Sampler()] as unknown as SampleModel[]
  let asked = 0
  const watched = watchedSamplers([one, two, one], spans, closers, () => asked++)
  expect(watched[0]).toBe(watched[2])
  expect([watched[1].version, watched[1].stats().running]).toEqual([7, 7])
  expect(await watched[0].sample('a' as never, {} as never)).toEqual(['a', 7])
  expect(asked).toBe(1)
  await closers.close()
  const lines = (await readFile(path, 'utf8')).trim().split('\n')
  expect(lines.map(readSpan)).toMatchObject([{ lane: 'sampler 1', kind: 'work', label: '1 request' }])
  const [plain] = watchedSamplers([one], undefined, closers, () => asked++)
  expect(await plain.sample('b' as never, {} as never)).toEqual(['b', 7])
  expect(asked).toBe(2)
})
