import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { tempDir } from '../../../test/support/temp-dir.js'
import { createModel } from '../create.js'
import { exportOllama } from './ollama.js'

it('a template that cannot be said is left out, and that is said', async () => {
  const dir = await tempDir()
  const chatTemplate = '{% for m in messages %}{{ m.content | upper }}{% endfor %}'
  await createModel({ out: join(dir, 'm'), layers: 1, hidden: 32, heads: 2, chatTemplate })
  const notes = await exportOllama(join(dir, 'm'), join(dir, 'o'), { type: 'f16' })
  expect(notes).toEqual([expect.stringContaining('cannot be said in the language of Ollama')])
  const text = await readFile(join(dir, 'o', 'Modelfile'), 'utf8')
  expect(text).toBe('FROM ./model.gguf\nPARAMETER stop "<|end|>"\nPARAMETER num_ctx 1024\n')
})
