import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { makeData } from '../../../test/support/made-data.js'
import { tempDir } from '../../../test/support/temp-dir.js'
import { openEnvironment } from '../../environment/index.js'

describe('trinity data email_search', () => {
  it('generates a mailbox in which every answer is found by the words of its question', async () => {
    const made = await makeData('email_search', { train: 30, test: 10 })
    const rows = [...made.rows('train.jsonl'), ...made.rows('test.jsonl')]
    expect(rows).toHaveLength(40)
    expect(new Set(rows.map(({ question }) => question)).size).toBe(40)
    const world = await openEnvironment('email_search', { database: join(made.folder, 'mails.db') })
    for (const row of rows) {
      await world.reset({ row, seed: 0 })
      const [, color, animal] = /([A-Z][a-z]+) ([A-Z][a-z]+)[ ?]/.exec(String(row.question).slice(3)) ?? []
      const [id] = row.message_ids as string[]
      expect((await world.step(`search_emails ${color} ${animal}`)).observation).toContain(id)
      expect((await world.step(`read_email ${id}`)).observation).toContain(String(row.answer))
      const call = { name: 'generate_response', arguments: { answer: row.answer, sources: [id] } }
      expect(await world.step(JSON.stringify(call))).toMatchObject({ won: true, reward: expect.closeTo(2.47, 9) })
    }
    await world.close()
    const again = await makeData('email_search', { train: 30, test: 10 })
    expect(again.files.map(({ sha256 }) => sha256)).toEqual(made.files.map(({ sha256 }) => sha256))
  })

  it('indexes mails of yours, and takes their questions', async () => {
    const from = await tempDir()
    const mail = {
      message_id: '<1>',
      date: '2001-05-14T09:30:00',
      subject: 's',
      from: 'a@x',
      to: ['b@x'],
      body: 'hello world',
    }
    const long = { ...mail, message_id: '<2>', body: 'x'.repeat(6000) }
    const same = { ...mail, message_id: '<3>' }
    await writeFile(join(from, 'mails.jsonl'), [mail, long, same].map((one) => JSON.stringify(one)).join('\n'))
    await mkdir(join(from, 'questions'))
    const question = {
      id: 1,
      question: '?',
      answer: 'x',
      message_ids: ['<1>'],
      inbox_address: 'b@x',
      query_date: '2001-06-01',
    }
    for (const split of ['train', 'test'])
      await writeFile(join(from, 'questions', `${split}.jsonl`), JSON.stringify(question))
    const made = await makeData('email_search', { mails: join(from, 'mails.jsonl'), from: join(from, 'questions') })
    expect(made.said.join()).toContain('1 mails, 2 left out')
    expect(made.rows('train.jsonl')).toEqual([question])
    const world = await openEnvironment('email_search', { database: join(made.folder, 'mails.db') })
    await world.reset({ row: question, seed: 0 })
    expect((await world.step('search_emails hello')).observation).toBe(
      '[{"message_id": "<1>", "snippet": "<b>hello</b> world"}]',
    )
    await world.close()
  })

  it('says what is missing', async () => {
    await expect(makeData('email_search', { from: 'x' })).rejects.toMatchObject({ path: 'from' })
    await expect(makeData('email_search', { train: 5000 })).rejects.toMatchObject({ code: 'dataset/exhausted' })
    await expect(makeData('email_search', { mails: join(await tempDir(), 'none.jsonl') })).rejects.toMatchObject({
      code: 'environment/data',
    })
  })
})
