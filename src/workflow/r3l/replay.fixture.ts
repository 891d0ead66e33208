import fc from 'fast-check'
import { expect } from 'vitest'
import { contextOf, modelOf, speaker, taskOf } from '../../../test/support/workflow-kit.js'
import { Pcg64 } from '../../base/random/index.js'
import type { Episode } from '../../environment/index.js'
import { EnvironmentRun } from '../environment/run.js'

/** A world to walk about in. */
export interface Place {
  readonly args?: Record<string, unknown>
  readonly raw?: (seed: number) => Record<string, unknown>
  /** For worlds that do not list their actions, or want them in a form. */
  readonly replies?: readonly string[]
  readonly form?: (action: string) => string
}

/** As the study's agents act. */
export const tags = (action: string) => `<think>so</think><action>${action}</action>`

export async function runIn(environment: string, { args = {}, raw = (seed) => ({ seed }) }: Place, seed: number) {
  const task = taskOf({ raw: raw(seed), taskDesc: undefined, index: { taskset: 0, row: seed } })
  const context = contextOf(modelOf(await speaker(undefined)), { task })
  return new EnvironmentRun(context, { environment, environment_args: args, max_env_steps: 12 })
}

/** Goes on at random up to the end. */
export async function wander(
  episode: Episode,
  seed: number,
  { replies, form = (action) => action }: Place,
): Promise<void> {
  const random = new Pcg64(seed)
  while (!episode.over) {
    const said = [...(episode.turn.admissible?.map(form) ?? []), ...(replies ?? ['hm'])]
    await episode.reply(said[random.below(said.length - 1)])
  }
}

/** Walks, goes back to a step, and takes the same replies again: everything is as it was. */
export async function checkReplay(name: string, place: Place, numRuns: number): Promise<void> {
  const numbers = fc.tuple(fc.nat(1000), fc.nat(1000), fc.nat(11))
  await fc.assert(
    fc.asyncProperty(numbers, async ([seed, walk, pivot]) => {
      const run = await runIn(name, place, seed)
      const first = await run.episode()
      await wander(first, walk, place)
      const { past } = first.turn
      const second = await run.again()
      await second.repeat(past, Math.min(pivot, past.length - 1))
      for (const { reply } of past.slice(second.turn.step)) await second.reply(reply)
      expect(second.turn).toEqual(first.turn)
      expect([second.score, second.won, second.over]).toEqual([first.score, first.won, first.over])
      await run.close()
    }),
    { numRuns },
  )
}
