import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import type { AxeResults } from 'axe-core'
import { type BrowserContext, type Browser as Chromium, chromium, type Page } from 'playwright-core'
import { expect } from 'vitest'
import { Studio, type StudioOptions } from '../../src/studio/studio.js'

/** The browser that tests run with: TRINITY_CHROMIUM, else Debian's. */
const path = process.env.TRINITY_CHROMIUM || '/usr/bin/chromium'
export const noChromium = !existsSync(path)
export const chromiumNote = noChromium
  ? ` (skipped: no ${path}; apt-get install chromium, or set TRINITY_CHROMIUM)`
  : ''

const BUILT = fileURLToPath(new URL('../../dist/studio/page/', import.meta.url))
const axe = () => readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

const WIDE = { width: 1280, height: 800 }
const NARROW = { width: 390, height: 800 }

/** A person with a browser in front of a Studio. */
export class Person {
  readonly page: Page
  readonly context: BrowserContext
  /** What pages have complained about: errors of scripts, refused resources, breaches of the content policy. */
  readonly complaints: string[] = []
  readonly #browser: Chromium
  readonly #studio: Studio
  readonly #origin: string

  private constructor(browser: Chromium, context: BrowserContext, page: Page, studio: Studio) {
    this.#browser = browser
    this.context = context
    this.page = page
    this.#studio = studio
    this.#origin = new URL(studio.url).origin
    this.#watch(page)
  }

  static async open(options: Omit<StudioOptions, 'version'>): Promise<Person> {
    const studio = await Studio.open({ version: '0.0.0', page: BUILT, ...options })
    const browser = await chromium.launch({ executablePath: path, args: ['--no-sandbox'] })
    const context = await browser.newContext({ viewport: WIDE })
    context.setDefaultTimeout(30_000)
    const person = new Person(browser, context, await context.newPage(), studio)
    await person.page.goto(studio.url)
    return person
  }

  async tab(view: string): Promise<Page> {
    const page = await this.context.newPage()
    this.#watch(page)
    await page.goto(`${this.#origin}/#/${view}`)
    return page
  }

  /** Goes to a view by its address and waits for what belongs to it. */
  async visit(view: string, shows: string): Promise<void> {
    await this.page.goto(`${this.#origin}/#/${view}`)
    await this.page.waitForSelector(shows).catch(async (cause) => {
      const text = (await this.page.locator('body').textContent()) ?? ''
      throw new Error(`${view} does not show ${shows} but: ${text.slice(0, 600)}`, { cause })
    })
  }

  /** What axe finds, in words. */
  async flaws(rules?: readonly string[]): Promise<string[]> {
    await this.page.evaluate(axe())
    const options = JSON.stringify(rules ? { runOnly: rules } : {})
    const { violations } = (await this.page.evaluate(`axe.run(${options})`)) as AxeResults
    return violations.map(({ id, nodes }) => `${id}: ${nodes[0].html.slice(0, 200)} ${nodes[0].failureSummary ?? ''}`)
  }

  /** What is in somebody's way on this view: in the light and in the dark, wide and narrow. It ends as it began. */
  async obstacles(): Promise<string[]> {
    const { page } = this
    await page.emulateMedia({ colorScheme: 'light' })
    const found = await this.flaws()
    if ((await this.overhang()) > 0) found.push('wider than its window')
    await page.emulateMedia({ colorScheme: 'dark' })
    found.push(...(await this.flaws(['color-contrast'])).map((flaw) => `in the dark, ${flaw}`))
    await this.narrow(async () => {
      const narrow = expect.poll(() => this.overhang()).toBeLessThanOrEqual(0)
      await narrow.catch(() => found.push(`wider than ${NARROW.width} pixels`))
      found.push(...(await this.crowded()))
    })
    await page.emulateMedia({ colorScheme: 'light' })
    return found
  }

  /** Does something in a narrow window; it ends wide. */
  async narrow(work: () => Promise<void>): Promise<void> {
    await this.page.setViewportSize(NARROW)
    await work()
    await this.page.setViewportSize(WIDE)
  }

  /** Entries of the bar that lie on each other. */
  crowded(): Promise<string[]> {
    return this.page.evaluate(`[...document.querySelectorAll('.bar a, .bar button')].flatMap((one, i, all) => {
      const a = one.getBoundingClientRect()
      return all.slice(i + 1).filter((other) => {
        const b = other.getBoundingClientRect()
        return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom
      }).map((other) => one.textContent + ' lies on ' + other.textContent)
    })`)
  }

  /** Pixels by which the page is wider than its window. */
  overhang(): Promise<number> {
    return this.page.evaluate('document.documentElement.scrollWidth - innerWidth')
  }

  async close(): Promise<void> {
    await this.#browser.close()
    await this.#studio.close()
  }

  #watch(page: Page): void {
    page.on('pageerror', (error) => this.complaints.push(error.stack ?? error.message))
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') this.complaints.push(message.text())
    })
  }
}
