/** Things to close in the reverse order of their opening, whatever happens. */
export class Closers {
  readonly #list: (() => Promise<void> | void)[] = []

  add<T extends { close(): Promise<void> | void }>(thing: T): T {
    this.#list.push(() => thing.close())
    return thing
  }

  defer(close: () => Promise<void> | void): void {
    this.#list.push(close)
  }

  /** Closes everything; the first failure is thrown at the end. */
  async close(): Promise<void> {
    const failures: unknown[] = []
    for (let close = this.#list.pop(); close; close = this.#list.pop()) {
      try {
        await close()
      } catch (error) {
        failures.push(error)
      }
    }
    if (failures.length > 0) throw failures[0]
  }
}

/** Runs `work` and closes what it opened. A failure of the work is what counts. */
export async function withClosers<T>(work: (closers: Closers) => Promise<T>): Promise<T> {
  const closers = new Closers()
  let result: T
  try {
    result = await work(closers)
  } catch (error) {
    await closers.close().catch(() => {})
    throw error
  }
  await closers.close()
  return result
}
