import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { fixture } from '../../test/support/test-data.js'
import type { RunView } from '../monitor/view.js'
import { modelDir } from './model-dir.js'

const dir = mkdtempSync(join(tmpdir(), 'trinity-model-dir-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))
const phases: string[] = []
const view = { phase: (_: string, text: string) => void phases.push(text) } as unknown as RunView
const signal = new AbortController().signal

it('a folder is itself, and nothing is downloaded', async () => {
  expect(await modelDir(fixture('tiny-qwen2'), view, signal)).toBe(fixture('tiny-qwen2'))
  expect(phases).toEqual([])
})

it('a folder that is not there is an error with its path', async () => {
  const gone = join(dir, 'gone')
  await expect(modelDir(gone, view, signal)).rejects.toThrow(gone)
})

it('so is a GGUF file, which no hub is asked for', async () => {
  await expect(modelDir('gone.gguf', view, signal)).rejects.toMatchObject({ code: 'model/missing', path: 'gone.gguf' })
})
