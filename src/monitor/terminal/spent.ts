/** What phases are called when their times are added up. */
const KINDS: readonly (readonly [RegExp, string])[] = [
  [/^\d+ tasks$/, 'rollouts'],
  [/^weights to the explorer$/, 'handing over weights'],
  [/^weights$/, 'waiting for weights'],
  [/evaluat/, 'evaluation'],
  [/^serves at /, 'serving'],
]

/** Where the time of a role goes, by what it says it is doing. */
export class Spent {
  readonly #ms = new Map<string, number>()
  #now: { kind: string; since: number } | undefined

  /** It does this from now on. */
  begin(phase: string, at: number): void {
    this.#settle(at)
    const what = phase.replace(/^(after )?step \d+: /, '')
    const kind = KINDS.find(([pattern]) => pattern.test(what))?.[1] ?? what
    this.#now = kind === 'done' ? undefined : { kind, since: at }
  }

  /** Shares of the whole time, the largest first; what is less than a hundredth is left out. */
  shares(at: number): { kind: string; share: number }[] {
    this.#settle(at)
    const total = [...this.#ms.values()].reduce((sum, ms) => sum + ms, 0)
    return [...this.#ms]
      .map(([kind, ms]) => ({ kind, share: ms / total }))
      .filter(({ share }) => share >= 0.01)
      .sort((a, b) => b.share - a.share)
  }

  #settle(at: number): void {
    if (!this.#now) return
    const { kind, since } = this.#now
    this.#ms.set(kind, (this.#ms.get(kind) ?? 0) + at - since)
    this.#now = { kind, since: at }
  }
}
