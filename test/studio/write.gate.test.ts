import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { runId } from '../../src/studio/run/find.js'
import { trinity } from '../run/cli-kit.js'
import { chromiumNote, noChromium, Person } from './browser-kit.js'
import { measured } from './measured.js'
import { writing } from './writing-kit.js'

const config = fileURLToPath(new URL('../../examples/quickstart/quickstart.yaml', import.meta.url))
const model = fileURLToPath(new URL('../../examples/quickstart/model/', import.meta.url))
const PLUGIN = `import { SimpleWorkflow, workflows, z } from 'trinity-rft'
workflows.add('patient_workflow', class extends SimpleWorkflow {
  static doc = 'waits before it answers'
  static args = z.strictObject({ pause: z.number().default(2.5).describe('Seconds it waits.') })
})
`

describe.skipIf(noChromium)(`a run is written in chromium${chromiumNote}`, () => {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'trinity-write-')))
  const folder = join(dir, 'runs')
  const plugins = join(dir, 'plugins')
  /** A run of two steps; it is there twice under one name. */
  const twin = (where: string) => join(folder, where, 'quickstart', 'twin')
  let person: Person
  const field = (key: string) => person.page.locator(`[id="field-${key}"]`)
  const line = (words: string) => person.page.locator('.cm-line', { hasText: words })
  const start = () => person.page.getByRole('button', { name: 'Start', exact: true })

  beforeAll(async () => {
    for (const path of [folder, plugins]) mkdirSync(path)
    cpSync(model, join(folder, 'models', 'small'), { recursive: true })
    writeFileSync(join(plugins, 'patient.mjs'), PLUGIN)
    const keys = ['name=twin', 'buffer.total_steps=2', `checkpoint_root_dir=${join(folder, 'one')}`]
    const { code, stderr } = await trinity(dir, ['run', '-c', config, ...keys.flatMap((key) => ['--set', key])])
    expect(code, stderr).toBe(0)
    cpSync(twin('one'), twin('two'), { recursive: true })
    // with a report, the bar has all its entries
    const report = { path: 'output.json', report: measured }
    person = await Person.open({ folders: [folder], report, ...writing([plugins]) })
    // the process that checks loads the registries and the plugin
    person.context.setDefaultTimeout(60_000)
  }, 120_000)
  afterAll(async () => {
    await person?.close()
    rmSync(dir, { recursive: true, force: true })
  })
  afterEach(() => {
    expect(person.complaints.splice(0)).toEqual([])
  })

  it('runs of one name are told apart wherever they are named', async () => {
    const { page } = person
    await person.visit('new', '.choices button')
    const old = page.locator('.card', { has: page.getByRole('heading', { name: 'Like a run' }) })
    expect((await old.locator('code').allTextContents()).sort()).toEqual([
      'quickstart/twin (one)',
      'quickstart/twin (two)',
    ])
    await person.visit(`runs/${runId(twin('two'))}/checkpoints`, '.checkpoints')
    const own = 'quickstart/twin (two)'
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe(own)
    expect(await page.title()).toBe(`${own} · Trinity Studio`)
    expect(await page.getByRole('navigation', { name: 'Where you are' }).textContent()).toContain(own)
  }, 120_000)

  it('a dialog says all of it, also one that was opened in a table', async () => {
    const { page } = person
    await person.visit(`runs/${runId(twin('one'))}/checkpoints`, '.checkpoints')
    await page.getByText('Evaluate, go on, export').first().click()
    const cut = () =>
      page.evaluate(
        `(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector('dialog[open]'))`,
      )
    for (const name of ['Evaluate', 'Export']) {
      await page.getByRole('button', { name, exact: true }).click()
      await page.locator('dialog[open] code').waitFor()
      expect(await cut(), name).toBe(0)
      await person.narrow(async () => expect(await cut(), `${name}, narrow`).toBe(0))
      await page.keyboard.press('Escape')
    }
  }, 120_000)

  it('like an example, into the folders', async () => {
    const { page } = person
    await person.visit('new', '.choices button')
    await page.getByLabel('search examples').fill('quickstart/q')
    await page.locator('.choices button', { hasText: 'quickstart/quickstart.yaml' }).click()
    await line('project: quickstart').waitFor()
    await page.getByRole('button', { name: `Put it into ${folder}` }).click()
    await line(`checkpoint_root_dir: ${folder}`).waitFor()
    await page.waitForSelector('.stage dl')
    await expect.poll(() => start().isEnabled()).toBe(true)
  }, 120_000)

  it('form and YAML say the same, and comments stay', async () => {
    const { page } = person
    await field('buffer.batch_size').fill('8')
    await line('batch_size: 8 # puzzles in a step').waitFor()
    await line('repeat_times: 8').click()
    await page.keyboard.press('Home')
    for (let i = 0; i < 'repeat_times: '.length; i++) await page.keyboard.press('ArrowRight')
    await page.keyboard.type('1')
    await expect.poll(() => field('algorithm.repeat_times').inputValue()).toBe('18')
    // a key that was left out gets a line, and loses it again
    await field('model.max_model_len').fill('64')
    await line('max_model_len: 64').waitFor()
    await page.getByLabel('leave out model.max_model_len').click()
    await line('max_model_len').waitFor({ state: 'detached' })
  }, 120_000)

  it('a fault stands at its field and at its line, and nothing is started', async () => {
    const { page } = person
    await field('buffer.batch_size').fill('-8')
    await page.waitForSelector('.form-row.is-bad:has([id="field-buffer.batch_size"]) .bad')
    expect(await page.locator('.mark-error').getAttribute('data-words')).toContain('found')
    expect(await start().isEnabled()).toBe(false)
    expect(await start().getAttribute('title')).toContain('buffer.batch_size')
    await field('buffer.batch_size').fill('4')
    await page.waitForSelector('.mark-error', { state: 'detached' })
    await page.waitForSelector('.form-row.is-bad', { state: 'detached' })
  }, 120_000)

  it('what is chosen, of a plugin too, has arguments with words and defaults', async () => {
    const { page } = person
    const taskset = 'buffer.explorer_input.taskset'
    await field(`${taskset}.default_workflow_type`).selectOption('patient_workflow')
    const pause = field(`${taskset}.workflow_args.pause`)
    await pause.waitFor()
    expect(await pause.getAttribute('placeholder')).toBe('2.5')
    const row = page.locator('.form-row', { has: pause })
    expect(await row.textContent()).toContain('Seconds it waits.')
    const coef = page.locator('.form-row', { has: field('algorithm.policy_loss_fn_args.clip_range') })
    expect(await coef.textContent()).toContain('The ratio counts between')
    await field(`${taskset}.default_workflow_type`).selectOption('simple_workflow')
    await pause.waitFor({ state: 'detached' })
  }, 120_000)

  it('is saved, not everywhere, and shown as it would be resolved', async () => {
    const { page } = person
    const save = page.getByRole('button', { name: 'Save', exact: true })
    const refused = page.locator('.tools [role=alert]')
    await page.getByLabel('file', { exact: true }).fill('.git/a.yaml')
    await save.click()
    expect(await refused.textContent()).toContain('not for configurations')
    expect(await refused.locator('.muted').textContent()).toBe(
      ' · choose another place, for example a folder beside the runs',
    )
    await page.getByLabel('file', { exact: true }).fill('')
    await save.click()
    await expect.poll(() => refused.textContent()).toContain('needs a name')
    await page.getByLabel('file', { exact: true }).fill('more/mine.yaml')
    await save.click()
    await page.getByRole('button', { name: 'Saved' }).waitFor()
    expect(existsSync(join(folder, '.git'))).toBe(false)
    expect(readFileSync(join(folder, 'more', 'mine.yaml'), 'utf8')).toContain('batch_size: 4 # puzzles in a step')
    await page.getByRole('button', { name: 'Dry run' }).click()
    // what the text leaves out
    await page.locator('dialog .cm-line', { hasText: 'algorithm_type: grpo' }).waitFor()
    await page.locator('dialog .cm-line', { hasText: 'advantage_fn: grpo' }).waitFor()
    await page.keyboard.press('Escape')
    const status = (code: number) => expect.stringContaining(`status of ${code}`)
    expect(person.complaints.splice(0)).toEqual([status(403), status(400)])
  }, 120_000)

  it('from a script of veRL, and from the file that was saved', async () => {
    const { page } = person
    const script = 'python3 -m verl.trainer.main_ppo algorithm.adv_estimator=grpo data.train_batch_size=16'
    await page.getByRole('button', { name: 'Begin with…' }).click()
    await page.getByLabel('veRL script').fill(script)
    await page.getByRole('button', { name: 'Import', exact: true }).click()
    await line('algorithm_type: grpo').waitFor()
    await page.getByRole('button', { name: 'Begin with…' }).click()
    await page.locator('.choices button', { hasText: 'more/mine.yaml' }).click()
    await line('batch_size: 4 # puzzles in a step').waitFor()
    await page.reload()
    await line('batch_size: 4 # puzzles in a step').waitFor()
  }, 120_000)

  it('like a run, and what was written before cannot be typed into meanwhile', async () => {
    const { page } = person
    await page.waitForSelector('.form-row')
    let arrive = () => {}
    const arrived = new Promise<void>((resolve) => {
      arrive = resolve
    })
    await page.route(/\/source/, async (route) => {
      await arrived
      await route.continue()
    })
    await person.visit(`new?run=${runId(twin('one'))}`, '.loading')
    expect(await page.locator('.form-row').count()).toBe(0)
    arrive()
    await line('name: twin').waitFor()
    await page.unroute(/\/source/)
  }, 120_000)

  it('each page is for everybody: axe in both themes, wide and narrow', async () => {
    const views: [string, string][] = [
      ['new', '.form-row'],
      ['new?section=buffer', '.group'],
      ['playground', '.talk'],
      ['playground/task', '.empty, .try'],
    ]
    for (const [view, shows] of views) {
      await person.visit(view, shows)
      expect(await person.obstacles(), view).toEqual([])
    }
  }, 300_000)
})
