import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Libsql from 'libsql'
import { afterAll, describe, expect, it } from 'vitest'
import { createExperience, type ExperienceInit } from '../../experience/create.js'
import type { GivenBuffer } from '../kind.js'
import { openBuffer } from '../open.js'

const folder = mkdtempSync(join(tmpdir(), 'trinity-sql-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
let made = 0

function place(): { file: string; config: GivenBuffer } {
  const file = join(folder, `${made++}.db`)
  return { file, config: { name: 'experience_buffer', storage_type: 'sql', path: `sqlite:///${file}` } }
}
const experience = (init: Partial<ExperienceInit> = {}) => createExperience({ tokens: [1, 2], ...init })

describe('the tables', () => {
  it('can be read with any SQLite tool', async () => {
    const { file, config } = place()
    const buffer = await openBuffer(config)
    await buffer.put([
      experience({
        eid: { batch: 3, task: 4, run: 1, step: 2, suffix: 'abcdef' },
        promptText: 'What is 1 + 1?',
        responseText: 'Two.',
        reward: 0.5,
        modelVersion: 7,
        messages: [{ role: 'user', content: 'hi' }],
      }),
      experience({ failure: { reason: 'timeout', message: 'after 30 s' } }),
    ])
    await buffer.close()
    const rows = new Libsql(file).prepare('SELECT * FROM experience_buffer ORDER BY id').all()
    expect(rows[0]).toMatchObject({
      batch_id: '3',
      task_id: '4',
      run_id: 1,
      step_id: 2,
      msg_id: 'abcdef',
      prompt_text: 'What is 1 + 1?',
      response_text: 'Two.',
      messages: '[{"role":"user","content":"hi"}]',
      reward: 0.5,
      model_version: 7,
      consumed: 0,
    })
    expect(rows[1]).toMatchObject({ reward: null, failure: 'timeout: after 30 s' })
  })

  it('keep an absent reward, NaN, and any text', async () => {
    const { file, config } = place()
    const buffer = await openBuffer(config)
    const given = [
      experience(),
      experience({ reward: Number.NaN }),
      experience({ reward: 0, promptText: 'a\0b', responseText: '"; DROP TABLE x; -- 🙂' }),
    ]
    const failed = experience({ failure: { reason: 'timeout', message: 'found \0' } })
    await buffer.put([...given, failed])
    expect(await buffer.take(4)).toStrictEqual([...given, failed].map((e) => ({ ...e, useCount: 1 })))
    const rows = new Libsql(file).prepare('SELECT failure FROM experience_buffer ORDER BY id DESC').all()
    expect(rows[0]).toEqual({ failure: 'timeout: found \uFFFD' })
    await buffer.close()
  })

  it('let a person correct a reward', async () => {
    const { file, config } = place()
    const buffer = await openBuffer(config)
    await buffer.put([experience({ reward: 0 }), experience({ reward: 1 })])
    const other = new Libsql(file)
    other.exec(
      'UPDATE experience_buffer SET reward = 0.9 WHERE id = 1; UPDATE experience_buffer SET reward = NULL WHERE id = 2',
    )
    other.close()
    expect((await buffer.take(2)).map((e) => e.reward)).toEqual([0.9, undefined])
    await buffer.close()
  })

  it('name the row that is damaged', async () => {
    const { file, config } = place()
    const buffer = await openBuffer(config)
    await buffer.put([experience()])
    const other = new Libsql(file)
    other.exec("UPDATE experience_buffer_blob SET experience_bytes = x'00'")
    other.close()
    await expect(buffer.take(1)).rejects.toThrow(/table experience_buffer, id 1 is not in the experience format/)
    await buffer.close()
  })
})

describe('the job of a database', () => {
  it('is the only one that may use it', async () => {
    const { config } = place()
    await (await openBuffer(config, { job: 'math/grpo' })).close()
    const other = openBuffer(config, { job: 'math/ppo' })
    await expect(other).rejects.toMatchObject({ code: 'buffer/other-job' })
    await expect(other).rejects.toThrow(/belongs to job 'math\/grpo', this is job 'math\/ppo'/)
    await (await openBuffer({ ...config, name: 'second' }, { job: 'math/grpo' })).close()
  })
})

describe('restoring', () => {
  it('says that the rows of the checkpoint are gone, and leaves the database as it was', async () => {
    const { file, config } = place()
    const buffer = await openBuffer(config)
    await buffer.put([experience(), experience()])
    const cut = await buffer.cut()
    const other = new Libsql(file)
    other.exec('DELETE FROM experience_buffer WHERE id = 2')
    other.close()
    await expect(buffer.restore(cut)).rejects.toThrow(/1 experiences of the checkpoint are not in/)
    expect((await buffer.state()).ready).toBe(1)
    await buffer.close()
  })
})

describe('opening', () => {
  it('says what is wrong with a path', async () => {
    const config = { name: 'b', storage_type: 'sql' }
    await expect(openBuffer(config)).rejects.toMatchObject({ code: 'buffer/path', path: 'b.path' })
    await expect(openBuffer({ ...config, path: 'mysql://me:pw@h/d' })).rejects.toThrow(/mysql:\/\/me:\*\*\*@h\/d/)
    await expect(openBuffer({ ...config, storage_type: 'sqll' })).rejects.toMatchObject({ code: 'registry/unknown' })
  })

  it('refuses a file that is no database', async () => {
    const { file, config } = place()
    writeFileSync(file, 'this is not a database, whatever its name says. '.repeat(100))
    await expect(openBuffer(config)).rejects.toMatchObject({ code: 'database/open' })
  })

  it('refuses a table that another program has made', async () => {
    const { file, config } = place()
    const other = new Libsql(file)
    other.exec('CREATE TABLE experience_buffer (id INTEGER PRIMARY KEY, task_id TEXT, reward REAL)')
    other.close()
    await expect(openBuffer(config)).rejects.toMatchObject({ code: 'buffer/schema' })
  })

  it('lets two buffers of one process share a file', async () => {
    const { config } = place()
    const one = await openBuffer(config)
    const two = await openBuffer(config)
    const taking = two.take(2)
    await Promise.all([one.put([experience()]), one.put([experience()])])
    expect(await taking).toHaveLength(2)
    await one.close()
    expect((await two.state()).ready).toBe(0)
    await two.close()
  })
})

describe('replay', () => {
  it('hands out by priority, and again after the cool-down until the limit', async () => {
    const { config } = place()
    const buffer = await openBuffer({
      ...config,
      replay_buffer: {
        enable: true,
        priority_fn: 'decay_limit_randomization',
        priority_fn_args: { use_count_limit: 2 },
        reuse_cooldown_time: 0,
      },
    })
    await buffer.put([1, 2, 3].map((modelVersion) => experience({ modelVersion })))
    const taken = []
    for (let i = 0; i < 6; i++) taken.push(...(await buffer.take(1)).map((e) => `${e.modelVersion}·${e.useCount}`))
    // Priorities 3, 2, 1 and, after one use, 1, 0, −1; equals go by age.
    expect(taken).toEqual(['3·1', '2·1', '1·1', '3·2', '2·2', '1·2'])
    await expect(buffer.take(1, { deadlineMs: 20 })).rejects.toMatchObject({ code: 'buffer/timeout' })
    await buffer.close()
  })

  it('is restored with the uses and priorities of the cut', async () => {
    const { config } = place()
    const replay = { enable: true, reuse_cooldown_time: 0 }
    const buffer = await openBuffer({ ...config, replay_buffer: replay })
    await buffer.put([1, 5].map((modelVersion) => experience({ modelVersion })))
    await buffer.take(1)
    const cut = JSON.parse(JSON.stringify(await buffer.cut()))
    const play = async () => {
      const taken = []
      for (let i = 0; i < 5; i++) taken.push(...(await buffer.take(1)).map((e) => `${e.modelVersion}·${e.useCount}`))
      return taken
    }
    const first = await play()
    expect(await buffer.restore(cut)).toMatchObject({ voided: 0 })
    expect(await play()).toEqual(first)
    await buffer.close()
  })
})
