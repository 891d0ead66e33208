import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, it } from 'vitest'
import { readModelConfig } from '../model/index.js'
import { Closers } from './closers.js'
import { ropedConfig, withRope } from './rope.js'

const dir = resolve('test/fixtures/tiny-llama')

it('every reader of the model sees the position encoding that is asked for', async () => {
  const closers = new Closers()
  const before = (await readModelConfig(dir)).config
  const rope = { rope_scaling: { rope_type: 'linear', factor: 2 }, rope_theta: 5000 }
  const own = await withRope(dir, rope, closers)
  const { config } = await readModelConfig(own)
  expect(config).toEqual({
    ...before,
    rope: { theta: 5000, scaling: { type: 'linear', factor: 2 } },
    maxPositions: 2 * before.maxPositions,
  })
  await closers.close()
  expect(existsSync(own)).toBe(false)
  expect((await readModelConfig(dir)).config).toEqual(before)
})

it('nothing is done where nothing is asked for', async () => {
  expect(await withRope(dir, { rope_scaling: null, rope_theta: null }, new Closers())).toBe(dir)
})

it('keeps what is not asked for, in both spellings', () => {
  const newer = { rope_parameters: { rope_type: 'linear', factor: 4, rope_theta: 7 }, max_position_embeddings: 64 }
  expect(ropedConfig(newer, { rope_scaling: null, rope_theta: 9 })).toEqual({
    max_position_embeddings: 64,
    rope_theta: 9,
    rope_scaling: { rope_type: 'linear', factor: 4 },
  })
  expect(ropedConfig(newer, { rope_scaling: { type: 'linear', factor: 2 }, rope_theta: null })).toEqual({
    max_position_embeddings: 128,
    rope_theta: 7,
    rope_scaling: { type: 'linear', factor: 2 },
  })
})
