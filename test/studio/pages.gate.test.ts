import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { runId } from '../../src/studio/run/find.js'
import { trinity } from '../run/cli-kit.js'
import { chromiumNote, noChromium, Person } from './browser-kit.js'
import { hostileRun } from './hostile-run.js'
import { measured } from './measured.js'

const config = fileURLToPath(new URL('../../examples/quickstart/quickstart.yaml', import.meta.url))
const STORE = 'store=buffer%2Fexperience_buffer.jsonl'

describe.skipIf(noChromium)(`Studio in chromium${chromiumNote}`, () => {
  const dir = mkdtempSync(join(tmpdir(), 'trinity-pages-'))
  const job = (name: string) => join(dir, 'quickstart', name)
  const quickstart = (name: string, steps: number, seen?: Parameters<typeof trinity>[2]) => {
    const keys = [
      `name=${name}`,
      `buffer.total_steps=${steps}`,
      `checkpoint_root_dir=${dir}`,
      'explorer.eval_interval=4',
    ]
    return trinity(dir, ['run', '-c', config, ...keys.flatMap((key) => ['--set', key])], seen)
  }
  let stop = () => {}
  let live: ReturnType<typeof trinity> | undefined
  let person: Person

  beforeAll(async () => {
    const { code, stderr } = await quickstart('done', 4)
    expect(code, stderr).toBe(0)
    live = quickstart('live', 100_000, (_, child) => {
      stop = () => child.kill('SIGKILL')
    })
    await hostileRun(job('done'), job('hostile'))
    mkdirSync(join(job('broken'), '.trinity'), { recursive: true })
    mkdirSync(join(job('broken'), 'monitor'))
    writeFileSync(
      join(job('broken'), 'monitor', 'trainer.jsonl'),
      '{"step":1,"time":1,"metrics":{"a":1}}\n{"step":2,"ti',
    )
    writeFileSync(join(job('broken'), 'best_eval.json'), '{"first": ')
    person = await Person.open({ folders: [dir], report: { path: 'output.json', report: measured } })
    // a report that Studio was asked to show comes first
    await person.page.waitForSelector('.cards')
  }, 120_000)
  afterAll(async () => {
    await person?.close()
    stop()
    await live
    rmSync(dir, { recursive: true, force: true })
  })
  afterEach(() => {
    expect(person.complaints.splice(0)).toEqual([])
  })

  it('finds a run by keyboard and shows how it goes on', async () => {
    const { page } = person
    await person.visit('', 'tr[data-run]:has-text("live") .badge:has-text("running")')
    await page.keyboard.press('/')
    await page.keyboard.type('live')
    await expect.poll(() => page.locator('tr[data-run]').count()).toBe(1)
    await page.keyboard.press('Escape')
    const link = page.locator('tr[data-run] a').first()
    await link.focus()
    await page.keyboard.press('Enter')
    await page.waitForSelector('.chart canvas')
    await page.goBack()
    const head = page.locator('th button').first()
    await head.focus()
    await page.keyboard.press('Enter')
    expect(page.url()).toContain('sort=')
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await page.waitForSelector('.chart canvas')
    const steps = async () => Number.parseInt((await page.locator('.headline .steps dd').textContent()) ?? '', 10)
    await expect.poll(steps).toBeGreaterThanOrEqual(0)
    const before = await steps()
    await expect.poll(steps).toBeGreaterThan(before)
    // the database is being written at this moment
    await page.keyboard.press('j')
    await page.waitForSelector('.lanes canvas')
    await page.keyboard.press('j')
    await page.waitForSelector('a.rollout-row')
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await page.waitForSelector('.chat')
    await page.keyboard.press('u')
    await page.waitForSelector('a.rollout-row')
    await page.keyboard.press('?')
    await page.waitForSelector('dialog[open]')
    await page.keyboard.press('Escape')
    await expect.poll(() => page.locator('dialog[open]').count()).toBe(0)
    stop()
  }, 120_000)

  it('keeps zoom and filter in the address, so that they survive a reload', async () => {
    const { page } = person
    const run = `runs/${runId(job('done'))}`
    await person.visit(`${run}/charts`, '.u-over')
    const box = await page.locator('.u-over').first().boundingBox()
    if (!box) throw new Error('no chart')
    await page.mouse.move(box.x + 40, box.y + 40)
    await page.mouse.down()
    await page.mouse.move(box.x + 160, box.y + 40, { steps: 4 })
    await page.mouse.up()
    await expect.poll(() => page.url()).toContain('from=')
    const zoomed = page.url()
    await page.reload()
    await page.waitForSelector('.u-over')
    expect(page.url()).toBe(zoomed)
    await page.keyboard.press('0')
    await expect.poll(() => page.url()).not.toContain('from=')
    await person.visit(`${run}/rollouts?${STORE}`, 'a.rollout-row')
    const all = await page.locator('.histogram dd').first().textContent()
    await page.locator('.bins button:has(i)').first().click()
    await expect.poll(() => page.locator('.histogram dd').first().textContent()).not.toBe(all)
    const few = await page.locator('.histogram dd').first().textContent()
    await page.reload()
    await expect.poll(() => page.locator('.histogram dd').first().textContent()).toBe(few)
  }, 120_000)

  it('a broken run is told apart, and does not hide the others', async () => {
    const { page } = person
    await person.visit(`runs/${runId(job('broken'))}/charts`, '.headline .note')
    expect(await page.locator('.headline .note').textContent()).toContain('best_eval.json')
    await person.visit('', 'tr[data-run]:has-text("best_eval.json") .badge.broken')
    expect(await page.locator('tr[data-run]').count()).toBe(4)
  }, 120_000)

  it('what models, logs and names say never becomes markup', async () => {
    const run = `runs/${runId(job('hostile'))}`
    const views: [string, string][] = [
      ['', 'tr[data-run]'],
      [`${run}/charts?search=img`, '.chart'],
      [`${run}/timeline`, '.lanes'],
      [`${run}/rollouts?${STORE}`, 'a.rollout-row'],
      [`${run}/rollout?${STORE}&id=0`, '.chat'],
      [`${run}/rollout?${STORE}&id=0&show=tokens`, '.tokens .tok'],
      [`${run}/rollouts?${STORE}&view=attempts&prompt=img`, '.attempts li'],
      [`${run}/logs?file=trainer`, '.log-line'],
      [`${run}/notes`, '.notes li'],
      [`${run}/configuration`, '.cm-content'],
      [`compare?runs=${runId(job('hostile'))}+${runId(job('done'))}`, '.chart'],
    ]
    for (const [view, shows] of views) {
      await person.visit(view, shows)
      if (view !== '' && !view.includes('timeline'))
        expect(await person.page.content(), view).toContain('&lt;script&gt;')
      expect(await person.page.locator('img').count(), view).toBe(0)
      expect(await person.page.evaluate('window.stolen'), view).toBeUndefined()
    }
  }, 120_000)

  it('runs that were ticked with the mouse are compared by key', async () => {
    const { page } = person
    // what was compared last is selected: nothing
    await person.visit('compare', '.empty')
    await person.visit('', 'tr[data-run]')
    for (const name of ['done', 'hostile'])
      await page
        .locator(`tr[data-run="${runId(job(name))}"]`)
        .getByRole('checkbox')
        .click()
    await page.keyboard.press('c')
    await expect.poll(() => page.url()).toContain('#/compare')
    await page.waitForSelector('.differences')
  }, 120_000)

  it('a key stays readable beside long values: in one line, in a narrow window broken after dots alone', async () => {
    // the lines of each key, and of each piece of it
    const lines = () =>
      person.page.evaluate(`[...document.querySelectorAll('.differences td:first-child code')].map((code) => {
        const count = (node) => {
          const range = document.createRange()
          range.selectNodeContents(node)
          return new Set([...range.getClientRects()].map(({ top }) => top)).size
        }
        const pieces = [...code.childNodes].filter(({ nodeType }) => nodeType === Node.TEXT_NODE)
        return { key: code.textContent, lines: count(code), broken: pieces.filter((piece) => count(piece) > 1).length }
      })`)
    await person.visit(`compare?runs=${runId(job('hostile'))}+${runId(job('done'))}`, '.differences')
    const long = 'buffer.explorer_input.eval_tasksets'
    expect(await lines()).toContainEqual({ key: long, lines: 1, broken: 0 })
    await person.narrow(async () => {
      await expect.poll(lines).toContainEqual({ key: long, lines: 3, broken: 0 })
    })
  }, 120_000)

  it('eight tabs share the six connections of a browser: those that nobody sees give theirs back', async () => {
    const tabs: Page[] = []
    const turn = (page: Page, isHidden: boolean) =>
      page.evaluate(`Object.defineProperty(document, 'hidden', { value: ${isHidden}, configurable: true })
        document.dispatchEvent(new Event('visibilitychange'))`)
    for (let i = 0; i < 8; i++) {
      const tab = await person.tab(`runs/${runId(job('done'))}/logs?file=trainer`)
      await tab.waitForSelector('.live.on')
      await tab.waitForSelector('.log-line')
      await turn(tab, true)
      tabs.push(tab)
    }
    await tabs[0].waitForSelector('.live:not(.on)')
    await turn(tabs[0], false)
    await tabs[0].waitForSelector('.live.on')
    for (const tab of tabs) await tab.close()
  }, 120_000)

  it('every view is for everybody: axe in both themes, wide and narrow', async () => {
    const run = `runs/${runId(job('done'))}`
    const views: [string, string][] = [
      ['', 'tr[data-run]'],
      [`${run}/charts`, '.chart canvas'],
      [`${run}/timeline`, '.lanes canvas'],
      [`${run}/rollouts?${STORE}`, 'a.rollout-row'],
      [`${run}/rollouts?${STORE}&view=step&at=2`, '.attempts li'],
      [`${run}/rollout?${STORE}&id=0`, '.chat'],
      [`${run}/rollout?${STORE}&id=0&show=tokens&color=advantage`, '.tokens .tok'],
      [`${run}/logs?file=trainer`, '.log-line'],
      [`${run}/notes`, '.tabs'],
      [`${run}/checkpoints`, '.checkpoints'],
      [`${run}/configuration`, '.cm-content'],
      [`compare?runs=${runId(job('hostile'))}+${runId(job('done'))}`, '.chart canvas'],
      ['machine', '.checks'],
      ['perf', '.cards'],
    ]
    for (const [view, shows] of views) {
      await person.visit(view, shows)
      expect(await person.obstacles(), view).toEqual([])
    }
  }, 300_000)
})
