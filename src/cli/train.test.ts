import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { train } from './train.js'

const dir = mkdtempSync(join(tmpdir(), 'trinity-train-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))
const FLAGS = { data: 'tasks.jsonl', model: 'model', batch: '2', repeat: '2', lr: '1e-4' }

it('takes files of code, and says what takes a configuration', async () => {
  const yaml = join(dir, 'q.yaml')
  const text = join(dir, 'notes.txt')
  for (const file of [yaml, text]) writeFileSync(file, 'mode: both\n')
  await expect(train(yaml, FLAGS)).rejects.toMatchObject({
    code: 'cli/agent',
    message: `${yaml} is no agent file: .ts, .mts, .js or .mjs`,
    hint: `a configuration runs with: trinity run --config ${yaml}`,
  })
  await expect(train(text, FLAGS)).rejects.toMatchObject({
    code: 'cli/agent',
    hint: 'give the file that calls agent(...)',
  })
  await expect(train(join(dir, 'no.ts'), FLAGS)).rejects.toMatchObject({ code: 'cli/no-file' })
})
