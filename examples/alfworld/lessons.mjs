// Many lessons at once, one thread for each core: in every game its own task, and tasks of other games in its house, so that
// no house gives away what is asked and where it lies.
import { availableParallelism } from 'node:os'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { Pcg64 } from 'trinity-rft'
import { demonstrate, habits, withTaskOf } from './demonstrations.mjs'

const SHARE_OWN = 0.25
const TRIES = 60

/** For each game its lessons, and the house with another task that the expert could do; whatever the number of threads. */
export async function lessonsIn(games, times) {
  const threads = availableParallelism()
  let done = 0
  const parts = Array.from({ length: threads }, async (_, thread) => {
    const worker = new Worker(new URL(import.meta.url), { workerData: { games, times, thread, threads } })
    const taught = []
    await new Promise((resolve, reject) => {
      worker.on('message', (one) => {
        taught.push(one)
        if (++done % 500 === 0) console.log(`${done} of ${games.length} games`)
      })
      worker.on('error', reject)
      worker.on('exit', resolve)
    })
    return taught
  })
  const all = await Promise.all(parts)
  return games.map((_, i) => all[i % threads][Math.floor(i / threads)])
}

async function teach({ games, times, thread, threads }) {
  const known = habits(games)
  for (let i = thread; i < games.length; i += threads) {
    const lessons = []
    let other
    for (let j = 0; j < times; j++) {
      const seed = i * times + j
      const game = j < times * SHARE_OWN ? games[i] : otherTask(games, i, new Pcg64(seed))
      const messages = game && (await demonstrate(game, { seed, habits: known }))
      if (!messages) continue
      lessons.push({ messages })
      if (game !== games[i]) other = game
    }
    parentPort.postMessage({ lessons, other })
  }
}

function otherTask(games, i, random) {
  for (let n = 0; n < TRIES; n++) {
    const game = withTaskOf(games[i], games[random.below(games.length - 1)])
    if (game) return game
  }
}

if (!isMainThread && workerData?.games) await teach(workerData)
