import { join } from 'node:path'
import Libsql from 'libsql'
import { describe, expect, it } from 'vitest'
import { tempDir } from '../../test/support/temp-dir.js'
import { createExperience } from '../experience/index.js'
import { History } from './history.js'

async function url(): Promise<string> {
  return `sqlite:///${join(await tempDir(), 'proxy_history.db')}`
}

const answer = (suffix: string) =>
  createExperience({ eid: { suffix }, tokens: [1, 2, 3], promptLength: 1, logprobs: [-1, -2], temperature: 0.7 })
const feedback = (ids: string[], reward = 1, task = 't', run = 0) => ({ ids, reward, task, run })
const told = ({ eid, reward, useCount }: ReturnType<typeof answer>) => ({ ...eid, reward, useCount })

describe('History', () => {
  it('gives what has feedback to one commit, with task, run and order', async () => {
    const history = await History.open(await url())
    await Promise.all(['a', 'b', 'c'].map((id) => history.record([answer(id)])))
    await history.record([answer('n'), answer('n')])
    expect(await history.rate(feedback(['a', 'c'], 0.5, 'x', 2))).toEqual({ rated: 2, before: 0 })
    expect(await history.rate(feedback(['n'], -1))).toEqual({ rated: 2, before: 0 })
    expect([history.total, history.rated]).toEqual([5, 4])
    const first = await history.begin(1)
    const given = { batch: 1, useCount: 0 }
    expect(first.map(told)).toEqual([
      { ...given, task: 'x', run: 2, step: 0, suffix: 'a', reward: 0.5 },
      { ...given, task: 'x', run: 2, step: 1, suffix: 'c', reward: 0.5 },
      { ...given, task: 't', run: 0, step: 0, suffix: 'n', reward: -1 },
      { ...given, task: 't', run: 0, step: 1, suffix: 'n', reward: -1 },
    ])
    expect([...first[0].logprobs!]).toEqual([-1, -2])
    await history.end(1)
    expect(await history.begin(2)).toEqual([])
    await history.close()
  })

  it('refuses a commit whose text is damaged, and gives it when it is repaired', async () => {
    const where = await url()
    const file = where.slice('sqlite:///'.length)
    const history = await History.open(where)
    await history.record([answer('a')])
    await history.rate(feedback(['a'], 1, 'x'))
    const database = new Libsql(file)
    database.exec("UPDATE proxy_history SET task_id = CAST(X'ff' AS TEXT)")
    await expect(history.begin(1)).rejects.toMatchObject({ code: 'database/damaged', path: file })
    database.exec("UPDATE proxy_history SET task_id = 'y'")
    database.close()
    expect((await history.begin(2)).map(told)).toMatchObject([{ batch: 2, task: 'y', suffix: 'a' }])
    await history.close()
  })

  it('deletes answers without feedback by age, and keeps the others', async () => {
    const where = await url()
    const history = await History.open(where)
    const ids = Array.from({ length: 2005 }, (_, i) => `id-${i}`)
    await history.record(ids.map(answer))
    await history.rate(feedback(['id-7', 'id-2000']))
    const database = new Libsql(where.slice('sqlite:///'.length))
    database.exec(
      "UPDATE proxy_history SET created_at = strftime('%Y-%m-%d %H:%M:%f', 'now', '-2 days') WHERE id < 2005",
    )
    expect(await history.expire(3 * 86_400)).toBe(0)
    expect(await history.expire(1.5 * 86_400)).toBe(2002)
    expect([history.total, history.rated]).toEqual([3, 2])
    const blobs = database.prepare('SELECT count(*) AS n FROM proxy_history_blob').get()
    database.close()
    expect(blobs).toMatchObject({ n: 3 })
    await expect(history.rate(feedback(['id-0']))).rejects.toMatchObject({ code: 'serve/unknown-message' })
    expect(await history.rate(feedback(['id-2004']))).toEqual({ rated: 1, before: 0 })
    expect(await history.begin(1)).toHaveLength(3)
    await history.close()
  })

  it('counts feedback once, also when it comes again after a restart', async () => {
    const where = await url()
    const history = await History.open(where)
    await history.record([answer('a')])
    await history.rate(feedback(['a'], 1))
    expect(await history.rate(feedback(['a'], 0))).toEqual({ rated: 0, before: 1 })
    await history.close()
    const again = await History.open(where)
    expect([again.total, again.rated]).toEqual([1, 1])
    expect(await again.rate(feedback(['a'], 0))).toEqual({ rated: 0, before: 1 })
    expect((await again.begin(1)).map(({ reward }) => reward)).toEqual([1])
    await again.close()
  })

  it('changes nothing where an id is not known, and says which', async () => {
    const history = await History.open(await url())
    await history.record([answer('a')])
    const strange = history.rate(feedback(['a', 'b', 'c', 'd', 'e']))
    await expect(strange).rejects.toMatchObject({
      code: 'serve/unknown-message',
      message: "no answer has the id 'b', 'c', 'd' and 1 more",
    })
    expect(await history.begin(1)).toEqual([])
    expect(history.rated).toBe(0)
    await history.close()
  })

  it('takes an answer back that nobody got, even one on its way into the table, but none with feedback', async () => {
    const history = await History.open(await url())
    const recorded = history.record([answer('a')])
    await history.withdraw(['a', 'never'])
    await recorded
    expect(history.total).toBe(0)
    await expect(history.rate(feedback(['a']))).rejects.toMatchObject({ code: 'serve/unknown-message' })
    await history.record([answer('b')])
    await history.rate(feedback(['b']))
    await history.withdraw(['b'])
    expect(await history.begin(1)).toHaveLength(1)
    await history.close()
  })

  it('is shared by several servers: feedback reaches it by any, and a commit is of one', async () => {
    const where = await url()
    const [a, b] = await Promise.all(['a', 'b'].map((who) => History.open(where, { who })))
    for (const id of ['1', '2', '3']) await a.record([answer(id)])
    await b.rate(feedback(['1', '2']))
    expect(await a.begin(1)).toHaveLength(2)
    await a.rate(feedback(['3']))
    // what one has begun is not for the other, whatever becomes of it
    expect((await b.begin(1)).map(({ eid }) => eid.suffix)).toEqual(['3'])
    await b.end(1)
    expect((await a.begin(1)).map(({ eid }) => eid.suffix)).toEqual(['1', '2'])
    await a.end(1)
    expect([await a.begin(2), await b.begin(2)]).toEqual([[], []])
    await a.close()
    await b.close()
  })

  it('keeps more ids apart than stand in one statement', async () => {
    const history = await History.open(await url())
    const ids = Array.from({ length: 1203 }, (_, i) => `id-${i}`)
    await Promise.all(ids.map((id) => history.record([answer(id)])))
    expect(await history.rate(feedback(ids))).toEqual({ rated: 1203, before: 0 })
    await history.close()
  })
})
