import { mkdir, open, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openDatabase } from '../../src/base/database/database.js'
import { createTables } from '../../src/buffer/sql/schema.js'
import { runId } from '../../src/studio/run/find.js'
import { tempDir } from '../support/temp-dir.js'
import { chromiumNote, noChromium, Person } from './browser-kit.js'

const ROWS = 1_000_000
const [STEPS, METRICS] = [5000, 300]
const LOG_BYTES = 2 ** 31

describe.skipIf(noChromium)(`runs that are large${chromiumNote}`, () => {
  let job = ''
  let person: Person
  const run = (view: string) => `runs/${runId(job)}/${view}`

  beforeAll(async () => {
    const dir = await tempDir()
    job = join(dir, 'large')
    for (const part of ['.trinity', 'monitor', 'log', 'buffer']) await mkdir(join(job, part), { recursive: true })
    const names = Array.from({ length: METRICS }, (_, i) => `group${i % 10}/metric ${i}`)
    const rows = Array.from({ length: STEPS }, (_, step) => {
      const metrics = Object.fromEntries(names.map((name, i) => [name, Math.sin(step / 100 + i)]))
      return JSON.stringify({ step, time: 1_700_000_000 + step, metrics })
    })
    await writeFile(join(job, 'monitor', 'trainer.jsonl'), `${rows.join('\n')}\n`)
    const log = await open(join(job, 'log', 'trainer.log'), 'w')
    const block = Buffer.from(`${'INFO 11-16 00:00:00 [trainer] one of many lines\n'.repeat(20_000)}`)
    for (let at = 0; at < LOG_BYTES; at += block.length) await log.write(block)
    await log.write('ERROR 11-16 00:00:01 [trainer] the last line\n')
    await log.close()
    const db = await openDatabase(`sqlite:///${join(job, 'buffer', 'explorer_output.db')}`)
    await createTables(db, 'pipeline_input')
    await db.query(
      `WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${ROWS - 1})
       INSERT INTO pipeline_input (batch_id, task_id, run_id, step_id, msg_id, type, model_version, reward, prompt_text, response_text)
       SELECT i / 200, (i / 8) % 25, i % 8, 0, 'm', 'single_turn', i / 400, (i * 7919 % 1000) / 1000.0, 'question ' || i % 5000, 'answer ' || i FROM n`,
    )
    await db.close()
    person = await Person.open({ folders: [dir] })
    // the first look at a million rows takes seconds
    person.context.setDefaultTimeout(60_000)
  }, 600_000)
  afterAll(() => person?.close())

  it('5,000 steps of 300 metrics are charts that one can search', async () => {
    const { page } = person
    await person.visit(run('charts'), '.group')
    expect(await page.locator('.tools').first().textContent()).toContain('300 metrics')
    await page.keyboard.press('/')
    await page.keyboard.type('metric 299')
    await page.waitForSelector('.chart canvas')
    await expect.poll(() => page.locator('.chart').count()).toBe(1)
    // what one zooms into comes step by step
    await person.visit(run('charts?search=metric+299&from=100&to=200'), '.chart canvas')
    await expect.poll(() => page.locator('.chart-plot').getAttribute('aria-label')).toContain('101 points')
  }, 60_000)

  it('a log of 2 GB opens at its end, and a search goes back step by step', async () => {
    const { page } = person
    const began = performance.now()
    await person.visit(run('logs?file=trainer'), '.log-line')
    expect(performance.now() - began).toBeLessThan(5000)
    await expect.poll(() => page.locator('.log-line').last().textContent()).toContain('the last line')
    await person.visit(run('logs?file=trainer&text=nowhere'), '.empty')
    expect(await page.locator('.log-more button').textContent()).toBe('Search further back')
  }, 60_000)

  it('a million rollouts are filtered, ordered and scrolled', async () => {
    const { page } = person
    const count = () => page.locator('.histogram dd').first().textContent()
    await person.visit(run('rollouts'), 'a.rollout-row')
    await expect.poll(count).toBe('1,000,000')
    await person.visit(run('rollouts?rewardMin=0.999&order=best'), 'a.rollout-row')
    await expect.poll(count).toBe('1,000')
    await person.visit(run('rollouts?stepMin=4999&stepMax=4999'), 'a.rollout-row')
    await expect.poll(count).toBe('200')
    await person.visit(run('rollouts?order=oldest'), 'a.rollout-row')
    await page.locator('.virtual').focus()
    for (let i = 0; i < 30; i++) await page.keyboard.press('PageDown')
    await expect.poll(() => page.evaluate("document.querySelector('.virtual').scrollTop")).toBeGreaterThan(3000)
  }, 120_000)

  it('nothing complains', () => expect(person.complaints).toEqual([]))
})
