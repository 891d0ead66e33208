import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { tempDir } from '../../test/support/temp-dir.js'
import { openDatabase } from '../base/database/database.js'
import { createTables } from '../buffer/sql/schema.js'
import { view } from './view.js'

const done = { print: () => {}, signal: AbortSignal.abort() }

async function folder(): Promise<{ dir: string; page: string; config: string; job: string }> {
  const dir = await tempDir()
  const page = join(dir, 'page')
  await mkdir(page)
  await writeFile(join(page, 'index.html'), '<!doctype html>')
  const config = join(dir, 'run.yaml')
  await writeFile(
    config,
    `mode: both\nproject: p\nname: n\ncheckpoint_root_dir: ${dir}\nmodel: { model_path: ${dir} }\n`,
  )
  return { dir, page, config, job: join(dir, 'p', 'n') }
}

describe('trinity view', () => {
  it('finds the raw experiences of a configuration; what is given wins', async () => {
    const { page, config, job } = await folder()
    const shown: string[] = []
    const world = { ...done, page, print: (text: string) => shown.push(text) }
    await expect(view({ config, port: '0' }, world)).rejects.toMatchObject({
      code: 'studio/no-file',
      path: join(job, 'buffer', 'explorer_output.db'),
    })
    const db = await openDatabase(`sqlite:///${join(job, 'buffer', 'explorer_output.db')}`)
    await createTables(db, 'pipeline_input')
    await db.close()
    expect(await view({ config, port: '0' }, world)).toBe(0)
    expect(shown[0]).toContain('explorer_output.db')
    await expect(view({ config, table: 'other', port: '0' }, world)).rejects.toMatchObject({
      code: 'studio/no-table',
      hint: 'it has pipeline_input',
    })
    expect(await view({ url: join(job, 'buffer', 'explorer_output.db'), port: '0' }, world)).toBe(0)
  })

  it('says what is missing or wrong', async () => {
    const { page, config } = await folder()
    await expect(view({}, { ...done, page })).rejects.toThrow('give --url, or the --config of a run')
    await expect(view({ url: 'x.db', schema: 'dpo' }, { ...done, page })).rejects.toMatchObject({ path: '--schema' })
    const set = ['data_processor.experience_pipeline.save_input=false']
    await expect(view({ config, set }, { ...done, page })).rejects.toThrow('keep no raw experiences')
  })

  it('says what a file that it cannot show is instead', async () => {
    const { dir, page, job } = await folder()
    const refused = (url: string, code: string, words: string) =>
      expect(view({ url, port: '0' }, { ...done, page })).rejects.toMatchObject({
        code,
        hint: expect.stringContaining(words),
      })
    await mkdir(join(job, 'buffer'), { recursive: true })
    const files = { 'bad.db': 'no database', 'empty.db': '', 'foreign.jsonl': '{"a":1}\n', 'text.jsonl': 'words' }
    for (const [name, text] of Object.entries(files)) await writeFile(join(job, 'buffer', name), text)
    const inside = (name: string) => join(job, 'buffer', name)
    await refused(dir, 'studio/no-file', 'p/n/buffer/bad.db')
    await refused(page, 'studio/no-file', 'trinity studio')
    await refused(inside('none.db'), 'studio/no-file', 'buffer/')
    await refused(inside('bad.db'), 'studio/store', 'all of it')
    await refused(inside('empty.db'), 'studio/no-table', 'explorer_output.db')
    for (const name of ['foreign.jsonl', 'text.jsonl']) await refused(inside(name), 'studio/no-experiences', 'tokens')
  })
})
