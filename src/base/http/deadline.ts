/** The end of a call: when its time is over, or when who has asked does not want it any more. */
export class Deadline {
  readonly #controller = new AbortController()
  readonly #outer: AbortSignal | undefined
  readonly #timer: NodeJS.Timeout
  readonly #until: number
  readonly ms: number

  constructor(ms: number, outer?: AbortSignal) {
    this.ms = ms
    this.#until = performance.now() + ms
    this.#outer = outer
    // timers cannot wait longer than 2^31 ms
    this.#timer = setTimeout(this.#end, Math.min(ms, 2 ** 31 - 1))
    if (outer?.aborted) this.#end()
    else outer?.addEventListener('abort', this.#end, { once: true })
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  get leftMs(): number {
    return this.#until - performance.now()
  }

  /** Throws the reason of who has asked, where that is why it ended. */
  throwIfUnwanted(): void {
    this.#outer?.throwIfAborted()
  }

  get isOver(): boolean {
    return this.signal.aborted
  }

  /** The call is done. */
  clear(): void {
    clearTimeout(this.#timer)
    this.#outer?.removeEventListener('abort', this.#end)
  }

  readonly #end = () => this.#controller.abort()
}
