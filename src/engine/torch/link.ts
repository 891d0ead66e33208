import { TrinityError } from '../../error.js'
import { within } from '../calls.js'
import type { Call, InFlight, WeightLink } from '../contract.js'
import type { Answer } from './connection.js'
import { freePort } from './door.js'
import type { TorchSampleModel } from './sampler.js'
import type { TorchTrainModel } from './train.js'

/** Weights from a trained model to samplers of the same workers. */
export class TorchWeightLink implements WeightLink {
  readonly #from: TorchTrainModel
  readonly #to: readonly TorchSampleModel[]

  constructor(from: TorchTrainModel, to: readonly TorchSampleModel[]) {
    this.#from = from
    this.#to = to
  }

  transfer(version: number, inFlight: InFlight, call: Call): Promise<{ ms: number; checksum: string }> {
    return within(call, `transfer of weights ${version}`, async (signal) => {
      const begin = performance.now()
      for (const sampler of this.#to) sampler.check()
      const to = this.#to.map((sampler) => sampler.handle)
      const { result } = await this.#from.ask('transfer', { to, version, inFlight }, signal)
      for (const sampler of this.#to) sampler.version = version
      return { ms: performance.now() - begin, checksum: String(result.checksum) }
    })
  }
}

/** Longest wait for one piece of the weights. Less than a cancelled call may take before its workers are killed. */
const PIECE_S = 20

/**
 * Weights from a trained model to samplers in other processes: samplers are brought to a point between two steps, receive
 * the weights beside those in use, and take them when everybody has the same.
 */
export class TorchBroadcast implements WeightLink {
  readonly #from: TorchTrainModel
  readonly #to: readonly TorchSampleModel[]
  #joined = false

  constructor(from: TorchTrainModel, to: readonly TorchSampleModel[]) {
    this.#from = from
    this.#to = to
  }

  transfer(version: number, inFlight: InFlight, call: Call): Promise<{ ms: number; checksum: string }> {
    return within(call, `transfer of weights ${version}`, async (signal) => {
      const begin = performance.now()
      const holds = await Promise.allSettled(this.#to.map((sampler) => sampler.ask('hold', { inFlight }, signal)))
      const held = this.#to.filter((_, i) => holds[i].status === 'fulfilled')
      let checksum: string | undefined
      try {
        for (const hold of holds) if (hold.status === 'rejected') throw hold.reason
        checksum = await this.#carry(signal)
        signal.throwIfAborted()
      } catch (error) {
        this.#joined = false
        // whoever still can goes on as before
        await Promise.allSettled(held.map((sampler) => sampler.ask('commit', {}, NEVER)))
        throw error
      }
      await Promise.all(held.map((sampler) => sampler.ask('commit', { version }, NEVER)))
      for (const sampler of this.#to) sampler.version = version
      return { ms: performance.now() - begin, checksum }
    })
  }

  /** Everybody's copy, compared. */
  async #carry(signal: AbortSignal): Promise<string> {
    const members = [this.#from, ...this.#to]
    if (!this.#joined) {
      const args = { port: await freePort(), size: members.length, seconds: PIECE_S }
      await all(members.map((member, rank) => member.ask('link', { ...args, rank }, signal)))
      this.#joined = true
    }
    const answers = await all(
      members.map((member, rank) => member.ask(rank === 0 ? 'sendWeights' : 'receiveWeights', {}, signal)),
    )
    const sums = new Set(answers.map(({ result }) => String(result.checksum)))
    if (sums.size === 1) return [...sums][0]
    throw new TrinityError('engine/checksum', 'the weights that arrived are not those that were sent', {
      hint: 'the samplers go on with the weights they had; is the memory of this machine sound?',
    })
  }
}

const NEVER = new AbortController().signal

/** All answers. The first error, once everybody has ended: nobody is left behind in an exchange. */
async function all(answers: readonly Promise<Answer>[]): Promise<Answer[]> {
  const settled = await Promise.allSettled(answers)
  return settled.map((one) => {
    if (one.status === 'rejected') throw one.reason
    return one.value
  })
}
