import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Libsql from 'libsql'
import { afterAll, expect, it } from 'vitest'
import { createExperience } from '../../experience/create.js'
import { openBuffer } from '../open.js'
import { openKeeper } from '../queue/open-keeper.js'
import { ExperienceView } from './view.js'

const folder = mkdtempSync(join(tmpdir(), 'trinity-view-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const path = `sqlite:///${folder}/a.db`

it('finds experiences by reward, version and task, newest first', async () => {
  const buffer = await openBuffer({ name: 'experience_buffer', storage_type: 'sql', path }, { job: 'p/j' })
  const list = [0, 1, 2, 3, 4].map((i) =>
    createExperience({
      eid: { batch: 1, task: i % 2 },
      tokens: [i, 1],
      reward: i / 4,
      modelVersion: i,
      promptText: `p${i}`,
    }),
  )
  await buffer.put([...list, createExperience({ eid: { task: 0 }, tokens: [9, 9], modelVersion: 9 })])
  await (await openKeeper(path, 'pipeline_input', { job: 'p/j' })).close()
  await buffer.take(1)

  const view = await ExperienceView.open(path)
  expect(await view.tables()).toEqual(['experience_buffer', 'pipeline_input'])
  const found = async (filter = {}, page = {}) =>
    (await view.query('experience_buffer', filter, page)).map((row) => row.experience.tokens[0])
  expect(await found()).toEqual([9, 4, 3, 2, 1, 0])
  expect(await found({}, { offset: 1, limit: 2 })).toEqual([4, 3])
  expect(await found({ rewardMin: 0.25, rewardMax: 0.75 })).toEqual([3, 2, 1])
  expect(await found({ modelVersionMin: 3, modelVersionMax: 4, taskId: '0' })).toEqual([4])
  expect(await view.count('experience_buffer', { taskId: '1' })).toBe(2)
  const [last] = await view.query('experience_buffer', { modelVersionMax: 0 })
  expect(last).toMatchObject({ id: 1, consumed: 1, experience: { promptText: 'p0', reward: 0 } })
  expect(last.createdAt).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/)
  await view.close()
  await buffer.close()
})

it('refuses damaged text and keeps its row for a later take', async () => {
  const file = join(folder, 'damaged.db')
  const url = `sqlite:///${file}`
  const buffer = await openBuffer({ name: 'b', storage_type: 'sql', path: url })
  await buffer.put([createExperience({ tokens: [1, 2], promptText: 'ask', responseText: 'answer' })])
  const change = (value: string) => {
    const db = new Libsql(file)
    db.exec(`UPDATE b SET response_text = ${value}`)
    db.close()
  }
  change("CAST(X'e4' AS TEXT)")
  const view = await ExperienceView.open(url)
  const refused = {
    code: 'database/damaged',
    path: file,
    message: expect.stringContaining('column response_text of the row with id 1'),
  }
  await expect(view.query('b')).rejects.toMatchObject(refused)
  await expect(buffer.take(1)).rejects.toMatchObject(refused)
  change("'ä'")
  expect((await buffer.take(1)).map(({ responseText }) => responseText)).toEqual(['ä'])
  await view.close()
  await buffer.close()
})

it('does not make the file it looks for', async () => {
  const missing = join(folder, 'none.db')
  await expect(ExperienceView.open(`sqlite:///${missing}`)).rejects.toMatchObject({ code: 'buffer/open' })
  expect(existsSync(missing)).toBe(false)
})
