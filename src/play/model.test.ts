import { join } from 'node:path'
import { expect, it } from 'vitest'
import { tempDir } from '../../test/support/temp-dir.js'
import { createModel } from '../model/create.js'
import { withModels } from '../run/one-model.js'
import { playerOf } from './model.js'

it('a model directory replies, alike for the same seed, until the messages do not fit', async () => {
  const model = join(await tempDir(), 'model')
  await createModel({ out: model, layers: 1, hidden: 16, heads: 2, maxPositions: 64, tokenizer: { kind: 'bytes' } })
  const notes: string[] = []
  const note = (text: string) => void notes.push(text)
  await withModels({ note, signal: new AbortController().signal }, async (open) => {
    const player = playerOf(await open({ model, temperature: 1, maxTokens: 500, seed: 3 }))
    const ask = [{ role: 'user', content: 'hello' }]
    const first = await player(0).reply(ask)
    expect(first).not.toBe('')
    expect(await player(0).reply(ask)).toBe(first)
    expect(await player(1).reply(ask)).not.toBe(first)
    expect(await player(0).reply([{ role: 'user', content: 'x'.repeat(100) }])).toBeUndefined()
  })
  expect(notes.length).toBeGreaterThan(0)
})
