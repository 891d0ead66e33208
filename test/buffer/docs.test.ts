/** What docs/buffers.md shows is run here. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Libsql from 'libsql'
import { afterAll, expect, it } from 'vitest'
import { parse } from 'yaml'
import { openBuffer, priorityFns } from '../../src/buffer/index.js'
import { createExperience } from '../../src/experience/index.js'
import { operators } from '../../src/pipeline/index.js'
import { loadPlugins } from '../../src/plugin.js'

const folder = mkdtempSync(join(tmpdir(), 'trinity-docs-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const text = readFileSync(new URL('../../docs/buffers.md', import.meta.url), 'utf8')
const blocks = (language: string) =>
  [...text.matchAll(new RegExp(`\`\`\`${language}\n([^]*?)\`\`\``, 'g'))].map((m) => m[1])

it('the SQL reads what the buffer has written', async () => {
  const file = join(folder, 'a.db')
  const buffer = await openBuffer({ name: 'experience_buffer', storage_type: 'sql', path: `sqlite:///${file}` })
  await buffer.put([1, undefined, 3].map((reward) => createExperience({ tokens: [1, 2], promptText: 'p', reward })))
  await buffer.close()
  const [sql] = blocks('sql')
  const rows = new Libsql(file).prepare(sql).all() as { reward: number; prompt_text: string }[]
  expect(rows.map((row) => [row.reward, row.prompt_text])).toEqual([
    [3, 'p'],
    [1, 'p'],
  ])
})

it('names every operator and priority function, and their arguments in the YAML are valid', () => {
  for (const name of [...operators.names(), ...priorityFns.names()]) expect(text).toContain(`\`${name}\``)
  const [, replay, pipeline] = blocks('yaml').map((block) => parse(block))
  const { priority_fn, priority_fn_args } = replay.buffer.trainer_input.experience_buffer.replay_buffer
  expect(priorityFns.get(priority_fn).args.safeParse(priority_fn_args).success).toBe(true)
  for (const { name, args } of pipeline.data_processor.experience_pipeline.operators) {
    expect(operators.get(name).args.safeParse(args ?? {}).success).toBe(true)
  }
})

it('the plugin works', async () => {
  mkdirSync(join(folder, 'plugins'))
  writeFileSync(join(folder, 'plugins', 'shorter.ts'), blocks('ts')[0])
  await loadPlugins([join(folder, 'plugins')])
  const entryOf = operators.get('shorter_is_better')
  const made = await entryOf.create(entryOf.args.parse({ per_token: 0.5 }) as never, {})
  const { experiences } = await made.process([createExperience({ tokens: [1, 2, 3], reward: 1 })])
  expect(experiences[0].reward).toBe(0)
})
