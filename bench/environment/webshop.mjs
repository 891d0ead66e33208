// WebShop: steps a second of processor time over visits as models make them (a search of its own for every goal, looking
// around, options, a purchase), with the list of what can be clicked at every step; searches alone; a thousand visits at once.
// Products of TRINITY_TEST_DATA (webshop), else of WEBSHOP_PATH. --goals=2000 --rounds=5 --catalogue=FOLDER (a large one)
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { format, median, printTable, watchHost } from '../lib.mjs'

export const title = 'WebShop'
export const about = 'steps/s with search and clickables, searches/s, 1,000 visits at once (needs products)'

const root = fileURLToPath(new URL('../../', import.meta.url))
const TARGET = 5000
const LAG = 50

export async function run(options = []) {
  const option = (name, fallback) =>
    options.find((given) => given.startsWith(`--${name}=`))?.slice(name.length + 3) ?? fallback
  if (!existsSync(`${root}dist/index.js`)) throw new Error('dist/ is not built: npm run build')
  const { openEnvironment } = await import(`${root}dist/index.js`)
  const { openShop } = await import(`${root}dist/environment/webshop/index.js`)
  const stolen = watchHost()
  const data = findProducts()
  const args = { data, num_products: null, human_goals: false, seed: 0 }
  const shop = await openShop(args)
  const open = () => openEnvironment('webshop', { data, human_goals: false })
  const goals = Math.min(Number(option('goals', 2000)), shop.goals.count)
  const rates = { visits: [], searches: [] }
  for (let round = 0; round < Number(option('rounds', 5)); round++) {
    // In small parts: on a busy machine the best of them tells what the work costs.
    for (let at = 0; at < goals; at += 200) {
      rates.visits.push(await visits(await open(), shop, at, Math.min(goals, at + 200), round))
      rates.searches.push(searches(shop, at, Math.min(goals, at + 200), round))
    }
  }
  const best = Math.max(...rates.visits)
  const met = best >= TARGET ? 'met' : 'MISSED'
  printTable([
    { what: 'steps/s', median: format(median(rates.visits)), best: format(best), target: `≥ ${TARGET} ${met}` },
    {
      what: 'searches/s',
      median: format(median(rates.searches)),
      best: format(Math.max(...rates.searches)),
      target: '',
    },
  ])
  await crowd(open, shop)
  const large = option('catalogue')
  if (large) await searchLarge(openShop, large)
  const share = stolen()
  if (share !== undefined) console.log(`the host took ${format(share * 100)} % of the processors' time`)
}

/** Of processor time, garbage collection included: what others do meanwhile counts less than on a clock. */
function rate(count, before) {
  const { user, system } = process.cpuUsage(before)
  return (count / (user + system)) * 1e6
}

/** A visit for each of some goals; queries differ from round to round, so that none is remembered. */
async function visits(world, shop, from, to, round) {
  const before = process.cpuUsage()
  let steps = 0
  for (let session = from; session < to; session++) {
    await world.reset({ row: { session_id: session }, seed: 0 })
    for (const action of plan(shop.goals.goal(session), round)) {
      const possible = await world.admissible()
      const said = typeof action === 'string' ? action : action(possible, session)
      steps++
      if (said && (await world.step(said)).done) break
    }
  }
  await world.close()
  return rate(steps, before)
}

/** What a model does: searches, turns a page, looks at two products and their texts, chooses options, buys. */
function plan({ instruction, options }, round) {
  const product = (possible, at) => possible.filter((one) => /^click\[b0/.test(one))[at % 7] ?? 'click[back to search]'
  const option = (value) => (possible) => possible.find((one) => one === `click[${value}]`) ?? possible.at(-1)
  return [
    `search[${instruction} ${round}]`,
    'click[next >]',
    'click[< prev]',
    product,
    'click[description]',
    'click[< prev]',
    'click[< prev]',
    (possible, at) => product(possible, at + 1),
    'click[features]',
    'click[< prev]',
    ...options.map(option),
    'click[buy now]',
  ]
}

function searches(shop, from, to, round) {
  const before = process.cpuUsage()
  for (let session = from; session < to; session++) shop.find(`${shop.goals.goal(session).instruction} again ${round}`)
  return rate(to - from, before)
}

async function crowd(open, shop) {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc')
  collect()
  const heap = process.memoryUsage().heapUsed
  const worlds = await Promise.all(Array.from({ length: 1000 }, open))
  const idle = await lagOf(worlds, async () => {})
  const plans = worlds.map((_, at) => plan(shop.goals.goal(at % shop.goals.count), `crowd ${at}`))
  for (const [at, world] of worlds.entries()) await world.reset({ row: { session_id: at % shop.goals.count }, seed: 0 })
  const lag = await lagOf(worlds, async (world, at, step) => {
    const possible = await world.admissible()
    const action = plans[at][step]
    await world.step(typeof action === 'string' ? action : action(possible, at))
  })
  collect()
  const megabytes = (process.memoryUsage().heapUsed - heap) / 2 ** 20
  console.log(
    `1,000 visits at once: ${format(megabytes)} MB, event loop lag p99 ${format(lag)} ms, ${format(idle)} with the same waiting and no steps: target < ${LAG} ${lag < LAG ? 'met' : 'MISSED'}`,
  )
}

/** The 99th percentile in milliseconds while all take ten steps, with pauses as if a model spoke in between. */
async function lagOf(worlds, take) {
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  await Promise.all(
    worlds.map(async (world, at) => {
      for (let step = 0; step < 10; step++) {
        await sleep(50 + ((at * 37 + step * 101) % 400))
        await take(world, at, step)
      }
    }),
  )
  delay.disable()
  return delay.percentile(99) / 1e6
}

/** A catalogue that `trinity data webshop` has made of a large one. */
async function searchLarge(openShop, data) {
  const shop = await openShop({ data, num_products: null, human_goals: true, seed: 0 })
  const times = Array.from({ length: 300 }, (_, session) => {
    const start = performance.now()
    shop.find(shop.goals.goal(session % shop.goals.count).instruction)
    return performance.now() - start
  })
  const first = times.slice(0, 50)
  const later = times.slice(50).sort((a, b) => a - b)
  console.log(
    `${shop.catalogue.size} products: a search takes ${format(median(first))} ms at first, then ${format(median(later))} ms, p99 ${format(later[Math.floor(later.length * 0.99)])} ms`,
  )
}

function findProducts() {
  const shared = join(process.env.TRINITY_TEST_DATA ?? '', 'webshop')
  if (process.env.TRINITY_TEST_DATA && existsSync(shared)) return shared
  if (process.env.WEBSHOP_PATH) return process.env.WEBSHOP_PATH
  throw new Error('no products: set WEBSHOP_PATH to the folder of WebShop, or TRINITY_TEST_DATA')
}
