import { expect, it } from 'vitest'
import { failures } from '../../test/support/recorder.js'
import { type Environment, type EpisodeSpec, OpenEnvironment, type Transition } from '../environment/index.js'
import { describeEnvironment } from './environment.js'

/** Counts down from the number in the row. */
class Countdown implements Environment {
  protected left = 0
  reset({ row }: EpisodeSpec) {
    this.left = Number(row.from)
    return { observation: `${this.left}` }
  }
  step(action: string): Transition {
    const valid = action === 'down'
    if (valid) this.left--
    return { observation: `${this.left}`, reward: 0, done: this.left === 0, metrics: { valid: valid ? 1 : 0 } }
  }
  admissible(): readonly string[] {
    return ['down']
  }
  snapshot(): unknown {
    return this.left
  }
  restore(snapshot: unknown): void {
    this.left = snapshot as number
  }
}

const failuresOf = (world: () => Environment) =>
  failures((runner) =>
    describeEnvironment(runner, 'tried', {
      open: async () => new OpenEnvironment('countdown', world()),
      episodes: [2, 3, 30].map((from) => ({ row: { from }, seed: 0 })),
      ending: { episode: { row: { from: 2 }, seed: 0 }, actions: ['down', 'down'] },
      refused: ({ metrics }) => metrics?.valid === 0,
    }),
  )

it('finds nothing in an environment that keeps the contract', async () => {
  expect(await failuresOf(() => new Countdown())).toEqual([])
})

it('finds a world that remembers earlier episodes', async () => {
  class Tired extends Countdown {
    #episodes = 0
    override reset(episode: EpisodeSpec) {
      super.reset(episode)
      return { observation: `${this.left}, episode ${this.#episodes++}` }
    }
  }
  expect(await failuresOf(() => new Tired())).toContain(
    'plays the same episode for the same row, seed and actions, whatever it played before',
  )
})

it('finds a world that throws at what is no action, or comes back to another state', async () => {
  class Strict extends Countdown {
    override step(action: string) {
      if (action !== 'down') throw new Error('no such action')
      return super.step(action)
    }
  }
  expect(await failuresOf(() => new Strict())).toContain('answers text that is not an action, and does not throw')
  class Lossy extends Countdown {
    override snapshot = () => this.left + 1
  }
  expect(await failuresOf(() => new Lossy())).toContain(
    'restores a snapshot any number of times, and continues from it in the same way; or says that it cannot',
  )
})
