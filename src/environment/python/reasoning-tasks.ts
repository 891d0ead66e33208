import type { JsonObject } from '../../base/file/json-file.js'
import type { EnvironmentContext } from '../environment.js'
import type { PythonArgs } from './args.js'
import { type Mix, partsOf, worldOf } from './reasoning-gym.js'
import { PythonWorld } from './world.js'

/** Calls that are sent together. */
const BATCH = 100

/** The tasks of a mix in their order, as rows that make them again, whatever the mix is then. */
export async function* reasoningTasks(
  mix: Mix,
  python: PythonArgs,
  context: EnvironmentContext,
): AsyncIterable<JsonObject> {
  const world = await PythonWorld.open(worldOf(mix, { attempts: 1, truth: true }), python, context)
  const parts = new Map(partsOf(mix).map((one) => [one.name, one]))
  try {
    for (let first = 0; first < mix.size; first += BATCH) {
      const count = Math.min(BATCH, mix.size - first)
      const begin = (at: number) => world.begin({ row: { index: first + at }, seed: 0 })
      for (const { row, observation, answer } of await Promise.all(
        Array.from({ length: count }, (_, at) => begin(at)),
      )) {
        const made = row as { name: string }
        const { difficulty = null, config = {} } = parts.get(made.name) ?? {}
        yield {
          ...made,
          ...(difficulty !== null && { difficulty }),
          ...(Object.keys(config).length > 0 && { config }),
          question: observation,
          answer,
        }
      }
    }
  } finally {
    world.close()
  }
}
