import type { RoleStatus } from './status.js'

/** Least time between two looks that a trainer counts. Longer than its buffer takes from one look to the next. */
export const HUNGRY_MS = 500
const ENOUGH = 2

/**
 * Proof that the trainer has too few experiences and is alive: begun by an explorer that has put all it made.
 *
 * The first count read here may be from before that. The next one was written after it was read, and the one after that
 * rests on a look at the buffer which began later still: it has found what the explorer put, and that it is too little.
 * A trainer that was killed counts no further, and one that has trained in between begins anew.
 */
export class HungerProof {
  #wait = ''
  #first = 0

  complete(trainer: RoleStatus | undefined): boolean {
    if (trainer?.state !== 'wants_experiences') {
      this.#wait = ''
      return false
    }
    const wait = `${trainer.boot} ${trainer.step}`
    if (wait !== this.#wait) {
      this.#wait = wait
      this.#first = trainer.hungry
    }
    return trainer.hungry - this.#first >= ENOUGH
  }
}
