/** The SQL buffer on a real PostgreSQL server, started for the test in a folder of its own. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openPostgres } from '../../src/base/database/postgres.js'
import { ExperienceView, openBuffer } from '../../src/buffer/index.js'
import { createExperience } from '../../src/experience/index.js'
import { bundle } from '../bundle.js'
import { keepsItsPromises, releasesTakes } from './contract.js'
import { crowd } from './crowd.js'
import { findPostgres, type Server, startPostgres } from './server.js'
import { SilentProxy } from './silent-proxy.js'

const binaries = findPostgres()

describe.skipIf(!binaries)(
  `PostgreSQL${binaries ? '' : ' (skipped: no initdb in /usr/lib/postgresql or PATH)'}`,
  () => {
    let server: Server
    let admin: pg.Pool
    let made = 0
    const fresh = async () => {
      const schema = `s${made++}`
      await admin.query(`CREATE SCHEMA ${schema}`)
      return { name: 'b', storage_type: 'sql', path: `${server.url}?search_path=${schema}` }
    }
    beforeAll(async () => {
      server = await startPostgres(binaries!)
      admin = new pg.Pool({ connectionString: server.url, max: 1 })
      admin.on('error', () => {})
    }, 60_000)
    afterAll(async () => {
      await admin?.end()
      await server?.stop()
    })

    keepsItsPromises('as a buffer', fresh)
    releasesTakes('as a buffer', fresh)

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

    it('packs texts and bytes in the quick way where the server has it', async () => {
      const config = await fresh()
      await (await openBuffer(config)).close()
      const ways = await admin.query(
        "SELECT unnest(enumvals) AS name FROM pg_settings WHERE name = 'default_toast_compression'",
      )
      const expected = ways.rows.some(({ name }) => name === 'lz4') ? 'l' : ''
      const schema = new URL(config.path).searchParams.get('search_path')
      const { rows } = await admin.query(
        `SELECT attname AS name, attcompression AS way FROM pg_attribute
         WHERE attrelid IN ('${schema}.b'::regclass, '${schema}.b_blob'::regclass)
         AND attname IN ('prompt_text', 'response_text', 'messages', 'experience_bytes')`,
      )
      expect(rows.map(({ way }) => way)).toEqual(new Array(4).fill(expected))
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

    it('outlives a server that crashes in the middle of writing, and stores everything once', async () => {
      const config = await fresh()
      const told: string[] = []
      const buffer = await openBuffer(config, { onAway: (message) => void told.push(message) })
      const put = async (from: number) => {
        for (let i = from; i < from + 300; i++) await buffer.put([createExperience({ tokens: [i, 1], reward: i })])
      }
      const writing = Promise.all([put(0), put(1000), put(2000)])
      await new Promise((resolve) => setTimeout(resolve, 150))
      await server.restart()
      await writing
      const rewards = (await buffer.take(900)).map(({ reward }) => reward)
      expect(new Set(rewards).size).toBe(900)
      expect((await buffer.state()).ready).toBe(0)
      expect(told[0]).toMatch(/is away .*; trying again/)
      await buffer.close()
      // a statement that the crash has swallowed is given up after two minutes, and done again
    }, 240_000)

    it('gives up a server that says nothing, and says so', async () => {
      const { path } = await fresh()
      const db = await openPostgres(path, () => {}, { silenceMs: 300, awayMs: 1000 })
      server.freeze(true)
      try {
        await expect(db.query('SELECT 1')).rejects.toMatchObject({
          code: 'database/away',
          message: expect.stringMatching(/has been away for 1 s: .*time/i),
        })
      } finally {
        server.freeze(false)
      }
      expect(await db.query('SELECT 2 AS n')).toEqual([{ n: 2 }])
      await db.close()
    }, 60_000)

    it('waits for one statement no longer than a run allows', async () => {
      const notices: string[] = []
      const buffer = await openBuffer(await fresh(), { silenceMs: 400.5, onAway: (text) => void notices.push(text) })
      server.freeze(true)
      const putting = buffer.put([createExperience({ tokens: [1, 2], reward: 1 })])
      try {
        await expect.poll(() => notices, { timeout: 30_000 }).toEqual([expect.stringContaining('is away')])
      } finally {
        server.freeze(false)
      }
      await putting
      expect((await buffer.state()).ready).toBe(1)
      await buffer.close()
    }, 60_000)

    it('does again what was lost on a connection that died silently, once, and lets a slow statement be', async () => {
      const { path } = await fresh()
      const proxy = await SilentProxy.to(Number(new URL(server.url).port))
      const notices: string[] = []
      // without the probe each loss would take ten minutes
      const patience = { silenceMs: 600_000, awayMs: 600_000, probeMs: 300 }
      const db = await openPostgres(proxy.through(path), (text) => void notices.push(text), patience)
      const put = (n: number) =>
        db.transaction(async (tx) => {
          await tx.query('INSERT INTO numbers VALUES (?)', [n])
          return n
        })
      await db.transaction((tx) => tx.query('CREATE TABLE numbers (n INTEGER)'))
      // idle, as behind a firewall that forgets connections; then in the middle of statements, either way
      proxy.silence()
      expect(await put(1)).toBe(1)
      const sleeping = db.query('SELECT pg_sleep(1.5)')
      await put(2)
      expect(await sleeping).toHaveLength(1)
      expect(notices).toHaveLength(1)
      const answered = db.transaction(async (tx) => {
        await tx.query('INSERT INTO numbers VALUES (?)', [3])
        await tx.query('SELECT pg_sleep(0.3)')
      })
      proxy.silence('answers')
      await answered
      let isFirst = true
      await db.transaction(async (tx) => {
        await tx.query('UPDATE numbers SET n = n + 1')
        if (isFirst) proxy.silence()
        isFirst = false
        await tx.query('SELECT 1')
      })
      expect(await db.query('SELECT n FROM numbers ORDER BY n')).toEqual([{ n: 2 }, { n: 3 }, { n: 4 }])
      // no process of the server keeps a transaction, and its locks, for a client that it cannot reach
      const open = await admin.query("SELECT pid FROM pg_stat_activity WHERE state LIKE 'idle in transaction%'")
      expect(open.rows).toEqual([])
      await db.close()
      await proxy.close()
    }, 60_000)

    it('keeps buffers apart whose long names begin alike', async () => {
      const { path } = await fresh()
      const name = 'a_buffer_for_the_experiences_of_a_model_that_plays_in_many_worlds_at_'
      const buffers = [`${name}day`, `${name}night`].map((long) =>
        openBuffer({ name: long, storage_type: 'sql', path }),
      )
      const [day, night] = await Promise.all(buffers)
      await day.put([createExperience({ tokens: [7, 1], reward: 0.5 })])
      expect((await night.state()).ready).toBe(0)
      expect((await day.take(1))[0].reward).toBe(0.5)
      await Promise.all([day.close(), night.close()])
      const view = await ExperienceView.open(path)
      expect(await view.tables()).toHaveLength(2)
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
