/** The SQL buffer on a real PostgreSQL server, started for the test in a folder of its own. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ExperienceView, openBuffer } from '../../src/buffer/index.js'
import { createExperience } from '../../src/experience/index.js'
import { bundle } from '../bundle.js'
import { keepsItsPromises } from './contract.js'
import { crowd } from './crowd.js'
import { findPostgres, type Server, startPostgres } from './server.js'

const binaries = findPostgres()

describe.skipIf(!binaries)(
  `PostgreSQL${binaries ? '' : ' (skipped: no initdb in /usr/lib/postgresql or PATH)'}`,
  () => {
    let server: Server
    let admin: postgres.Sql
    let made = 0
    const fresh = async () => {
      const schema = `s${made++}`
      await admin.unsafe(`CREATE SCHEMA ${schema}`)
      return { name: 'b', storage_type: 'sql', path: `${server.url}?search_path=${schema}` }
    }
    beforeAll(async () => {
      server = await startPostgres(binaries!)
      admin = postgres(server.url, { max: 1 })
    }, 60_000)
    afterAll(async () => {
      await admin?.end()
      await server?.stop()
    })

    keepsItsPromises('as a buffer', fresh)

    it('hands every experience out once to several processes', async () => {
      const worker = await bundle(new URL('./worker.ts', import.meta.url).pathname)
      await crowd(worker, await fresh())
      rmSync(join(worker, '..'), { recursive: true, force: true })
    }, 60_000)

    it('refuses the database of another job, with both names', async () => {
      const config = await fresh()
      await (await openBuffer(config, { job: 'p/one' })).close()
      await expect(openBuffer(config, { job: 'p/two' })).rejects.toThrow(
        /belongs to job 'p\/one', this is job 'p\/two'/,
      )
    })

    it('can be looked into', async () => {
      const config = await fresh()
      const buffer = await openBuffer(config)
      await buffer.put([createExperience({ tokens: [7, 1], reward: 0.5 })])
      await buffer.close()
      const view = await ExperienceView.open(config.path)
      expect(await view.tables()).toEqual(['b'])
      expect(await view.query('b', { rewardMin: 0.5 })).toMatchObject([
        { id: 1, consumed: 0, experience: { reward: 0.5 } },
      ])
      expect(await view.count('b', { rewardMin: 0.6 })).toBe(0)
      await view.close()
    })

    it('never shows a password', async () => {
      const path = 'postgresql://user:secret@127.0.0.1:1/none'
      const failed = openBuffer({ name: 'b', storage_type: 'sql', path })
      await expect(failed).rejects.toMatchObject({
        code: 'database/open',
        path: 'postgres://user:***@127.0.0.1:1/none',
      })
      await expect(failed).rejects.not.toThrow(/secret/)
    })
  },
)
