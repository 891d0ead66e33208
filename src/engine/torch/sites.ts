import type { TorchOptions } from './options.js'

/** The devices of one sampler, by their numbers. Several devices have parts of its weights (tensor parallel). */
export type Site = readonly number[]

/** Where samplers have processes of their own: of the rollouts, and of each auxiliary model. */
export class Sites {
  readonly #trainer: number
  readonly #rollout: readonly Site[]
  readonly #auxiliary: readonly (readonly Site[])[]

  constructor({ devices = 1, samplers = 0, auxiliary = [] }: TorchOptions) {
    this.#trainer = devices
    const after = (count: number) => Array.from({ length: count }, (_, i) => [devices + i])
    const listed = (given: TorchOptions['samplers']) => (typeof given === 'number' ? after(given) : (given ?? []))
    this.#rollout = listed(samplers)
    this.#auxiliary = auxiliary.map((one) => listed(one.samplers))
  }

  /** Empty: they share the processes of the trainer. */
  of(auxiliary?: number): readonly Site[] {
    return auxiliary === undefined ? this.#rollout : (this.#auxiliary[auxiliary] ?? [])
  }

  get #all(): readonly Site[] {
    return [...this.#rollout, ...this.#auxiliary.flat()]
  }

  /** Processes of everybody, each with a device. */
  get processes(): number {
    return this.#trainer + this.#all.flat().length
  }

  /** Devices that this machine must have. */
  get devices(): number {
    return Math.max(this.#trainer, ...this.#all.flat().map((device) => device + 1))
  }

  /** Processes that come before those of a sampler, for the names of logs. */
  before(index: number, auxiliary?: number): number {
    const models = [this.#rollout, ...this.#auxiliary]
    const own = auxiliary === undefined ? 0 : auxiliary + 1
    return this.#trainer + [...models.slice(0, own).flat(), ...models[own].slice(0, index)].flat().length
  }
}
