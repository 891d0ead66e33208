import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Libsql from 'libsql'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findPostgres, type Server, startPostgres } from '../../../test/buffer/server.js'
import { openBuffer } from '../../buffer/index.js'
import { createExperience } from '../../experience/index.js'
import { VIEW, View } from './view.js'

const binaries = findPostgres()

it('refuses the rows of a SQLite file whose text is damaged, and shows the others', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'trinity-view-'))
  const file = join(folder, 'b.db')
  const buffer = await openBuffer({ name: 'b', storage_type: 'sql', path: `sqlite:///${file}` } as never, {} as never)
  await buffer.put(['one', 'two'].map((responseText) => createExperience({ tokens: [1, 2], responseText } as never)))
  await buffer.close()
  const db = new Libsql(file)
  db.exec("UPDATE b SET response_text = CAST(X'e4' AS TEXT) WHERE id = 2")
  db.close()
  const refused = { code: 'database/damaged', path: file, message: expect.stringContaining('id 2') }
  for (const url of [file, `sqlite:///${file}`]) {
    const view = await View.open({ url })
    const { source } = await view.get('', VIEW)
    expect((await source.rows([1])).map(({ response }) => response)).toEqual(['one'])
    await expect(source.rows([2])).rejects.toMatchObject({ ...refused, message: expect.stringContaining('response') })
    await expect(source.withText([1, 2], 'o')).rejects.toMatchObject(refused)
    await expect(source.read(2)).rejects.toMatchObject(refused)
    await view.close()
  }
  await rm(folder, { recursive: true })
})

describe.skipIf(!binaries)(`a view of PostgreSQL${binaries ? '' : ' (skipped: no initdb)'}`, () => {
  let server: Server
  beforeAll(async () => {
    server = await startPostgres(binaries as string)
  }, 60_000)
  afterAll(() => server?.stop())

  it('has the rows, the texts and the experiences of its table', async () => {
    const buffer = await openBuffer({ name: 'b', storage_type: 'sql', path: server.url } as never, {} as never)
    const tokens = [5, 6, 7, 8]
    const made = ['first', 'second'].map((responseText, i) =>
      createExperience({ tokens, promptLength: 2, reward: i, promptText: 'Ask', responseText } as never),
    )
    await buffer.put(made)
    await buffer.close()
    const view = await View.open({ url: server.url })
    expect(view.store).toMatchObject({ kind: 'postgresql', name: expect.stringContaining('b of ') })
    const { source, columns } = await view.get('', VIEW)
    expect(columns.rewards).toEqual([0, 1])
    expect((await source.rows([...columns.keys].reverse())).map(({ response }) => response)).toEqual([
      'second',
      'first',
    ])
    expect(await source.withText(columns.keys, 'sec')).toEqual([columns.keys[1]])
    expect([...(await source.read(columns.keys[0])).tokens]).toEqual(tokens)
    await view.close()
  })
})
