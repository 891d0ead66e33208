import { checkedJar } from './jar.js'
import { poolOf } from './pool.js'

/** The tasks of a simulator in its order, and how many variations each has. */
export async function taskVariations(path: string, signal?: AbortSignal): Promise<Map<string, number>> {
  const jar = await checkedJar(path)
  const pool = poolOf({ jar, heapMb: 512, timeoutMs: 60_000, processes: 1 })
  const game = await pool.take(signal)
  try {
    const { tasks } = game.simulator
    const counts = await Promise.all(tasks.map((task) => game.variations(task)))
    return new Map(tasks.map((task, i) => [task, counts[i]]))
  } finally {
    pool.release(game)
  }
}
