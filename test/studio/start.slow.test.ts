import { existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { runId } from '../../src/studio/run/find.js'
import { trinity } from '../run/cli-kit.js'
import { chromiumNote, noChromium, Person } from './browser-kit.js'
import { writing } from './writing-kit.js'

describe.skipIf(noChromium)(`a run from its start to its end in chromium${chromiumNote}`, () => {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'trinity-start-')))
  const job = join(dir, 'quickstart', 'mine')
  const run = `runs/${runId(job)}`
  let person: Person
  const button = (name: string | RegExp) => person.page.getByRole('button', { name, exact: true })
  const field = (key: string) => person.page.locator(`[id="field-${key}"]`)
  const badge = (state: string) => person.page.locator('.badge', { hasText: state }).first().waitFor()
  const suitsEverybody = async (what: string) => expect(await person.obstacles(), what).toEqual([])

  beforeAll(async () => {
    person = await Person.open({ folders: [dir], ...writing() })
    person.context.setDefaultTimeout(45_000)
  }, 120_000)
  afterAll(async () => {
    await person?.close()
    rmSync(dir, { recursive: true, force: true })
  })
  afterEach(() => {
    expect(person.complaints.splice(0)).toEqual([])
  })

  it('it is started, stopped after its step, and resumed to its end', async () => {
    const { page } = person
    await person.visit('new', '.choices button')
    await page.locator('.choices button', { hasText: 'quickstart/quickstart.yaml' }).click()
    await field('name').fill('mine')
    await field('buffer.total_steps').fill('100000')
    await field('trainer.save_interval').fill('2')
    await button(`Put it into ${dir}`).click()
    await expect.poll(() => button('Start').isEnabled(), { timeout: 60_000 }).toBe(true)
    await button('Start').click()
    await page.waitForURL(/#\/runs\/.*\/charts/)
    expect(page.url()).toContain(run)
    await page.waitForSelector('.chart canvas')
    await badge('running')
    await button('Stop').click()
    await badge('stopped')
    expect(existsSync(join(dir, 'quickstart-mine.yaml'))).toBe(true)
    const made = JSON.parse(readFileSync(join(job, '.trinity', 'run-both.json'), 'utf8'))
    expect(made.end.how).toBe('stopped')
    await page.getByRole('link', { name: 'Resume or change' }).click()
    await page.waitForSelector('.form-row')
    const steps = Number.parseInt((await page.locator('.plan-view').textContent())?.match(/step (\d+)/)?.[1] ?? '0', 10)
    await field('buffer.total_steps').fill(String(steps + 400))
    await button('Resume').waitFor()
    await expect.poll(() => button('Resume').isEnabled(), { timeout: 60_000 }).toBe(true)
    await button('Resume').click()
    // the file has another text by now
    await button('Replace').click()
    expect(person.complaints.splice(0)).toEqual([expect.stringContaining('status of 409')])
    await page.waitForURL(/#\/runs\/.*\/charts/)
    await badge('running')
    await button('Stop now').click()
    await page.locator('dialog').getByRole('button', { name: 'Stop now' }).click()
    await badge('stopped')
  }, 600_000)

  it('models of it are talked to, two at once, token by token', async () => {
    const { page } = person
    await person.visit('playground', '.talk')
    await button('Compare the newest run before and after').click()
    expect(await page.getByLabel('model', { exact: true }).locator('option:checked').textContent()).toContain('before')
    await page.getByLabel('question').fill('Make 22 from 5, 20, 3')
    await page.keyboard.press('Enter')
    await expect.poll(() => page.locator('.reply-tokens').count(), { timeout: 120_000 }).toBe(2)
    await page.locator('.reply-tokens .tok').first().hover()
    await expect.poll(() => page.locator('.others meter').count()).toBeGreaterThan(1)
    await suitsEverybody('a conversation')
  }, 300_000)

  it('one task of an evaluation set earns its reward', async () => {
    const { page } = person
    await person.visit(`playground/task?run=${runId(job)}`, '.try')
    await page.getByLabel('task set').selectOption({ label: 'held-out · evaluation' })
    await page.getByLabel('Task', { exact: true }).fill('3')
    await button('Try').click()
    await page.waitForSelector('.facts')
    const facts = (await page.locator('.facts').textContent()) ?? ''
    expect(facts).toMatch(/reward(0|0\.1|1)task setheld-outworkflowsimple_workflow/)
    await suitsEverybody('one task')
  }, 300_000)

  it('a checkpoint of it is exported, also across a reload, trained on and evaluated', async () => {
    const { page } = person
    await person.visit(`${run}/checkpoints`, '.checkpoints')
    const open = () =>
      page
        .getByRole('button', { name: /Evaluate, go on, export/ })
        .first()
        .click()
    await open()
    await suitsEverybody('checkpoints')
    const begin = async (type: string) => {
      await button('Export').click()
      await page.locator('dialog').getByLabel('Type').selectOption(type)
      await suitsEverybody('an export')
      await page.locator('dialog').getByRole('button', { name: 'Export', exact: true }).click()
      // it has begun when the dialog has gone
      await page.locator('dialog[open]').waitFor({ state: 'detached' })
    }
    await begin('hf')
    await page.reload()
    await page.locator('.exports', { hasText: 'as hf is in' }).waitFor()
    const [made] = readdirSync(join(job, 'exports'))
    expect(made).toMatch(/^mine-step-\d+-hf$/)
    expect(existsSync(join(job, 'exports', made, 'model.safetensors'))).toBe(true)
    await open()
    // its tokenizer has no place in such a file: the words of the command say so
    await begin('q8_0')
    await page.locator('.exports pre', { hasText: 'fix llama.cpp has no tokenizer' }).waitFor()
    await suitsEverybody('what was exported')

    await page.getByRole('link', { name: 'Train on from here' }).click()
    await page.waitForSelector('.form-row')
    await expect.poll(() => field('name').inputValue()).toMatch(/^mine-from-step-\d+$/)
    expect(await field('model.model_path').inputValue()).toContain(join(job, 'global_step_'))
    await expect.poll(() => button('Start').isEnabled(), { timeout: 60_000 }).toBe(true)

    await person.visit(`${run}/checkpoints`, '.checkpoints')
    await open()
    await button('Evaluate').click()
    await page.locator('dialog').getByRole('button', { name: 'Evaluate', exact: true }).click()
    await page.waitForURL((url) => /#\/runs\/.*\/charts/.test(url.hash) && !url.hash.includes(run))
    await badge('finished')
    const [evaluated] = readdirSync(join(dir, 'quickstart')).filter((name) => name.startsWith('mine-eval-step-'))
    const { results } = JSON.parse(readFileSync(join(dir, 'quickstart', evaluated, 'bench', 'results.json'), 'utf8'))
    expect(results).toMatchObject([{ step: 0, path: expect.stringContaining(join(job, 'global_step_')) }])
  }, 300_000)

  it('it gets a tag, is found by it, and goes when its name is confirmed', async () => {
    const { page } = person
    await person.visit(`${run}/charts`, '.tag-list input')
    await page.getByLabel('add a tag').fill('first try')
    await page.keyboard.press('Enter')
    await page.locator('.tag', { hasText: 'first try' }).waitFor()
    await person.visit('?search=first', 'tr[data-run]')
    await person.visit(`${run}/charts`, '.tag-list input')
    await button('Delete').click()
    await page.locator('dialog', { hasText: 'cannot be brought back' }).waitFor()
    expect(existsSync(join(job, 'monitor'))).toBe(true)
    await page.locator('dialog button.danger').click()
    await page.waitForSelector('.empty, .runs')
    await expect.poll(() => existsSync(join(job, 'monitor'))).toBe(false)
    // what was written about it stays
    expect(existsSync(join(dir, 'quickstart-mine.yaml'))).toBe(true)
  }, 120_000)

  it('a configuration that Studio has written runs in a terminal too', async () => {
    const keys = ['buffer.total_steps=1', 'name=again']
    const set = keys.flatMap((key) => ['--set', key])
    const { code, stderr } = await trinity(dir, ['run', '-c', join(dir, 'quickstart-mine.yaml'), ...set])
    expect(code, stderr).toBe(0)
  }, 120_000)
})
