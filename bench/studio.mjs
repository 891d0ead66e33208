// What Studio costs: its page, its questions, and the run that it looks at. Needs chromium for what is seen in a browser.
import { spawn } from 'node:child_process'
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { format, interleave, median, printTable } from './lib.mjs'

export const title = 'Studio: page, filters, live charts, and the run beside it'
export const about = 'first paint, a million rollouts, 20 updates a second, overhead on a run'

const root = fileURLToPath(new URL('..', import.meta.url))
const dist = (path) => import(new URL(`../dist/${path}`, import.meta.url).href)
const CHROMIUM = process.env.TRINITY_CHROMIUM || '/usr/bin/chromium'
const ROWS = 1_000_000

export async function run() {
  const dir = mkdtempSync(join(tmpdir(), 'trinity-bench-studio-'))
  try {
    const rows = []
    rows.push(...(await million(dir)))
    if (existsSync(CHROMIUM)) rows.push(...(await inBrowser(dir)))
    else console.log(`no ${CHROMIUM}: what is seen in a browser is not measured`)
    rows.push(...(await beside(dir)))
    rows.push(await spans(dir))
    printTable(rows)
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

const row = (what, value, target, isMet) => ({ what, value, target: `${target} ${isMet ? 'met' : 'MISSED'}` })

/** A Studio with a client that is let in. */
async function studioOf(folders) {
  const { Studio } = await dist('studio/index.js')
  const studio = await Studio.open({ folders, version: 'bench' })
  const { origin } = new URL(studio.url)
  const { headers } = await fetch(studio.url, { redirect: 'manual' })
  const cookie = headers.get('set-cookie').split(';')[0]
  const get = async (path) => (await fetch(`${origin}/api${path}`, { headers: { cookie } })).json()
  return { studio, get, origin, cookie }
}

async function cpuOf(work) {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

async function million(dir) {
  const job = jobIn(dir, 'million')
  const { openDatabase } = await dist('base/database/database.js')
  const { createTables } = await dist('buffer/sql/schema.js')
  const db = await openDatabase(`sqlite:///${join(job, 'buffer', 'explorer_output.db')}`)
  await createTables(db, 'pipeline_input')
  await db.query(
    `WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${ROWS - 1})
     INSERT INTO pipeline_input (batch_id, task_id, run_id, step_id, msg_id, type, model_version, reward, prompt_text, response_text)
     SELECT i / 200, (i / 8) % 25, i % 8, 0, 'm', 'single_turn', i / 400, (i * 7919 % 1000) / 1000.0, 'question', 'answer' FROM n`,
  )
  await db.close()
  const { studio, get } = await studioOf([join(dir, 'million')])
  const { runs } = await get('/runs')
  const { stores } = await get(`/runs/${runs[0].id}/stores`)
  const ask = (path, filter) => get(`/runs/${runs[0].id}/${path}?store=${encodeURIComponent(stores[0].id)}&${filter}`)
  const first = await cpuOf(() => ask('rollouts', ''))
  const filters = []
  for (let i = 0; i < 7; i++) {
    filters.push(await cpuOf(() => ask('rollouts', `rewardMin=${0.9 + i / 100}&order=best&count=true`)))
    filters.push(await cpuOf(() => ask('rollouts/histogram', `stepMin=${i * 100}&rewardMax=0.5&bins=30`)))
  }
  await studio.close()
  const most = Math.max(...filters)
  return [
    { what: 'a million rollouts, first look: ms of CPU', value: format(first), target: '' },
    row('a million rollouts, filtered: most ms of CPU', format(most), '< 300', most < 300),
  ]
}

function jobIn(dir, name) {
  const job = join(dir, name, 'p', 'n')
  for (const part of ['.trinity', 'monitor', 'log', 'buffer']) mkdirSync(join(job, part), { recursive: true })
  return job
}

async function inBrowser(dir) {
  const job = jobIn(dir, 'live')
  const numbers = join(job, 'monitor', 'trainer.jsonl')
  const names = Array.from({ length: 30 }, (_, i) => (i === 0 ? 'rollout/reward/mean' : `group/metric ${i}`))
  const line = (step) => {
    const metrics = Object.fromEntries(names.map((name, i) => [name, Math.sin(step / 20 + i)]))
    return `${JSON.stringify({ step, time: 1.7e9 + step, metrics })}\n`
  }
  writeFileSync(numbers, Array.from({ length: 2000 }, (_, step) => line(step)).join(''))
  const { studio, origin, cookie } = await studioOf([join(dir, 'live')])
  const empty = createServer((_, response) => response.end('<!doctype html><title>x</title><p>nothing</p>'))
  await new Promise((resolve) => empty.listen(0, '127.0.0.1', resolve))
  const nothing = `http://127.0.0.1:${empty.address().port}/`
  const { chromium } = await import('playwright-core')
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] })
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
  const [name, value] = cookie.split('=')
  await context.addCookies([{ name, value, url: origin }])
  const page = await context.newPage()
  const paint = async (url) => {
    await page.goto('about:blank')
    await page.goto(url)
    return page.evaluate(`new Promise((resolve) => {
      const look = () => { const [one] = performance.getEntriesByName('first-contentful-paint'); one ? resolve(one.startTime) : setTimeout(look, 5) }
      look()
    })`)
  }
  const times = { nothing: [], studio: [] }
  for (let round = -1; round < 9; round++) {
    const [one, other] = [await paint(nothing), await paint(`${origin}/`)]
    if (round >= 0) times.nothing.push(one) && times.studio.push(other)
  }
  const slower = median(times.studio.map((ms, i) => ms / times.nothing[i]))
  const { runs } = await (await fetch(`${origin}/api/runs`, { headers: { cookie } })).json()
  await page.goto(`${origin}/#/runs/${runs[0].id}/charts?search=metric`)
  await page.waitForSelector('.chart canvas')
  const session = await browser.newBrowserCDPSession()
  const watch = await context.newCDPSession(page)
  await watch.send('Network.enable')
  let drawn = 0
  watch.on('Network.eventSourceMessageReceived', ({ eventName }) => eventName === 'metrics' && drawn++)
  const frames = async (isBusy) => {
    const [before, from] = [await pageCpu(session), drawn]
    const counted = await measureFrames(page, isBusy ? (i) => appendFileSync(numbers, line(2000 + i)) : () => {})
    return { ...counted, cpu: ((await pageCpu(session)) - before) / counted.seconds, draws: drawn - from }
  }
  const [still, busy] = [await frames(false), await frames(true)]
  const cpu = busy.cpu - still.cpu
  // charts are drawn at most every 400 ms: what one drawing takes of that holds however fast a run is and however busy the machine
  const each = (cpu * busy.seconds) / Math.min(busy.draws, busy.seconds / 0.4) / 0.4
  await browser.close()
  await studio.close()
  empty.close()
  return [
    row('first paint × that of a page with nothing', format(slower), '≤ 4', slower <= 4),
    row('CPU of the page at 20 updates a second, of a core', `${format(100 * cpu)} %`, '< 25 %', cpu < 0.25),
    row('CPU of one drawing of all charts × the 400 ms to the next', format(each), '< 0.25', each < 0.25),
    // on a machine that does nothing else
    row(
      'frames at 20 updates a second × those without',
      format(busy.rate / still.rate),
      '≥ 0.95',
      busy.rate >= 0.95 * still.rate,
    ),
  ]
}

/** Seconds of CPU that the browser has spent on pages: scripts, layout, paint and what the processor does for a missing GPU. */
async function pageCpu(session) {
  const { processInfo } = await session.send('SystemInfo.getProcessInfo')
  return processInfo.filter(({ type }) => type !== 'browser').reduce((sum, { cpuTime }) => sum + cpuTime, 0)
}

/** Frames a second, while something happens twenty times a second for some seconds. */
async function measureFrames(page, update, times = 120) {
  const counted = page.evaluate(`new Promise((resolve) => {
    let count = 0
    const end = performance.now() + ${times * 50}
    const tick = (now) => { count++; now < end ? requestAnimationFrame(tick) : resolve(count) }
    requestAnimationFrame(tick)
  })`)
  const began = performance.now()
  for (let i = 0; i < times; i++) {
    update(i)
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, began + (i + 1) * 50 - performance.now())))
  }
  const seconds = (performance.now() - began) / 1000
  return { rate: (await counted) / (times * 0.05), seconds }
}

/** Steps of a run with and without a Studio whose page follows it, each in a process of its own. */
async function beside(dir) {
  const train = (i) => quickstart(join(dir, `beside-${i}`))
  const measured = { alone: [], watched: [] }
  for (let i = 0; i < 3; i++) {
    measured.alone.push(stepTime(await train(`a${i}`)))
    const { studio, origin, cookie } = await studioOf([dir])
    const end = new AbortController()
    const { body } = await fetch(`${origin}/api/events`, { headers: { cookie }, signal: end.signal })
    const drained = (async () => {
      for await (const _ of body);
    })().catch(() => {})
    measured.watched.push(stepTime(await train(`b${i}`)))
    end.abort()
    await drained
    await studio.close()
  }
  const slower = median(measured.watched.map((ms, i) => ms / measured.alone[i]))
  return [row('step of a run × one that nobody looks at', format(slower), '≤ 1.02', slower <= 1.02)]
}

function quickstart(out) {
  const keys = ['buffer.total_steps=30', `checkpoint_root_dir=${out}`, 'explorer.eval_interval=0']
  const args = ['run', '-c', 'examples/quickstart/quickstart.yaml', ...keys.flatMap((key) => ['--set', key])]
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['dist/cli/main.js', ...args], { cwd: root, stdio: 'ignore' })
    child.on('error', reject)
    child.on('close', (code) =>
      code === 0 ? resolve(join(out, 'quickstart', 'countdown')) : reject(new Error(`exit ${code}`)),
    )
  })
}

function stepTime(job) {
  const lines = readFileSync(join(job, 'monitor', 'trainer.jsonl'), 'utf8')
    .trim()
    .split('\n')
  return median(lines.slice(5).map((line) => JSON.parse(line).metrics['time/step'] * 1000))
}

/** What a run notes of its own time: spans of one step, as a share of a step of the quickstart. */
async function spans(dir) {
  const { SpanFile } = await dist('monitor/span/span-file.js')
  const file = new SpanFile(join(dir, 'spans', 'trainer.jsonl'))
  const lane = file.lane('trainer')
  const SPANS = 12
  const note = () => {
    for (let i = 0; i < SPANS * 1000; i++) lane.done('work', 'trains', performance.now() - 5, i)
  }
  const { spans: cost, nothing } = await interleave({ spans: note, nothing: () => {} }, { rounds: 9 })
  await file.close()
  const job = await quickstart(join(dir, 'spans-run'))
  const share = (cost.median - nothing.median) / 1000 / stepTime(job)
  return row('what a run notes for the timeline, of a step', `${(100 * share).toFixed(3)} %`, '< 2 %', share < 0.02)
}
