import type { IndexRow, Source } from './source.js'

/** Texts as numbers: there are few of them, and many rows. */
class Words {
  readonly words: string[] = []
  readonly #ids = new Map<string, number>()

  id(word: string): number {
    const known = this.#ids.get(word)
    if (known !== undefined) return known
    this.#ids.set(word, this.words.length)
    return this.words.push(word) - 1
  }

  find(word: string): number {
    return this.#ids.get(word) ?? -1
  }
}

/**
 * What a table of experiences is filtered and sorted by, in memory: some 50 bytes for each, so that a question about a
 * million of them needs no look at the database, which has no index for it and is not ours to give one.
 */
export class IndexColumns {
  readonly keys: number[] = []
  /** NaN where the id of the batch is no number. */
  readonly steps: number[] = []
  readonly tasks: number[] = []
  readonly versions: number[] = []
  /** `undefined` is NO_REWARD, which no comparison finds. */
  readonly rewards: number[] = []
  readonly failures: number[] = []
  readonly taskWords = new Words()
  readonly failureWords = new Words()
  #reading: Promise<void> | undefined

  constructor() {
    this.failureWords.id('')
  }

  get length(): number {
    return this.keys.length
  }

  /** Reads what is new; everything again where the source has taken something back. */
  update(source: Source): Promise<void> {
    this.#reading ??= this.#update(source).finally(() => {
      this.#reading = undefined
    })
    return this.#reading
  }

  async #update(source: Source): Promise<void> {
    const last = this.keys.at(-1)
    if (last !== undefined && !(await source.isSame(last))) this.#clear()
    await source.scan(this.keys.at(-1) ?? -1, (row) => this.#add(row))
  }

  #clear(): void {
    for (const column of [this.keys, this.steps, this.tasks, this.versions, this.rewards, this.failures])
      column.length = 0
  }

  #add({ key, step, task, version, reward, failure }: IndexRow): void {
    this.keys.push(key)
    this.steps.push(step === '' ? Number.NaN : Number(step))
    this.tasks.push(this.taskWords.id(task))
    this.versions.push(version)
    this.rewards.push(reward ?? Number.NaN)
    this.failures.push(this.failureWords.id(failure === undefined ? '' : reasonOf(failure)))
  }
}

/** `timeout: after 30 s` → `timeout` */
export function reasonOf(failure: string): string {
  const end = failure.indexOf(':')
  return end < 0 ? failure : failure.slice(0, end)
}
