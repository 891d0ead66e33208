import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findPostgres, type Server, startPostgres } from '../../test/buffer/server.js'
import { createExperience } from '../experience/index.js'
import { History } from './history.js'

const binaries = findPostgres()

describe.skipIf(!binaries)(`PostgreSQL${binaries ? '' : ' (skipped: no initdb)'}`, () => {
  let server: Server
  beforeAll(async () => {
    server = await startPostgres(binaries!)
  }, 60_000)
  afterAll(() => server?.stop())

  it('several servers take the same feedback at once: it counts once, and no id is missed', async () => {
    const all: History[] = []
    for (const who of ['a', 'b', 'c']) all.push(await History.open(server.url, { who }))
    const ids = Array.from({ length: 30 }, (_, i) => `id-${i}`)
    const answer = (suffix: string) => createExperience({ eid: { suffix }, tokens: [1, 2], promptLength: 1 })
    await Promise.all(ids.map((id, i) => all[i % 3].record([answer(id)])))
    const said = await Promise.all(
      ids.flatMap((id) => all.map((one, i) => one.rate({ ids: [id], reward: i, task: 't', run: 0 }))),
    )
    expect(said.reduce((sum, { rated }) => sum + rated, 0)).toBe(30)
    const taken = await Promise.all(all.map((one) => one.begin(1)))
    expect(
      taken
        .flat()
        .map(({ eid }) => eid.suffix)
        .sort(),
    ).toEqual([...ids].sort())
    for (const one of all) await one.end(1)
    expect(await all[0].begin(2)).toEqual([])
    await all[1].record([answer('x')])
    await all[2].withdraw(['x'])
    await expect(all[0].rate({ ids: ['x'], reward: 1, task: '', run: 0 })).rejects.toMatchObject({
      code: 'serve/unknown-message',
    })
    await all[1].record([answer('old')])
    expect(await all[0].expire(3600)).toBe(0)
    expect(await all[0].expire(0)).toBe(1)
    for (const one of all) await one.close()
  })
})
