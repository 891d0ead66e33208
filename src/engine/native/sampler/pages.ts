/**
 * Who uses which page of the key/value cache, and which tokens a page holds. A full page is known by its tokens and the
 * chain of pages before it, so that another sequence with the same beginning finds it. Pages that nobody uses stay known
 * until their memory is needed, the longest unused first. Everything is exact: a hash only finds a candidate.
 */
export class PagePool {
  readonly size: number
  readonly pageTokens: number
  readonly #users: Int32Array
  /** Name of the chain that ends with this page; 0 = its tokens are not known. */
  readonly #chain: Float64Array
  readonly #parent: Float64Array
  readonly #hash: Int32Array
  readonly #tokens: Int32Array
  readonly #known = new Map<number, number>()
  readonly #free: number[] = []
  /** Pages from here on were never used; their memory is not taken yet. */
  #fresh = 0
  // Known pages without users, longest unused first, as a doubly linked ring through `size`.
  readonly #next: Int32Array
  readonly #previous: Int32Array
  #idle = 0
  #chains = 0

  constructor(size: number, pageTokens: number) {
    this.size = size
    this.pageTokens = pageTokens
    this.#users = new Int32Array(size)
    this.#chain = new Float64Array(size)
    this.#parent = new Float64Array(size)
    this.#hash = new Int32Array(size)
    this.#tokens = new Int32Array(size * pageTokens)
    this.#next = new Int32Array(size + 1).fill(size)
    this.#previous = new Int32Array(size + 1).fill(size)
  }

  /** Pages that can be taken now. */
  get available(): number {
    return this.#free.length + this.size - this.#fresh + this.#idle
  }

  /** Pages that sequences use. */
  get used(): number {
    return this.size - this.available
  }

  /** A page for one user, or −1 when all are in use. */
  take(): number {
    let page = this.#free.pop() ?? -1
    if (page < 0 && this.#fresh < this.size) page = this.#fresh++
    if (page < 0 && this.#idle > 0) {
      page = this.#next[this.size]
      this.#unlink(page)
      this.#forgetPage(page)
    }
    if (page >= 0) this.#users[page] = 1
    return page
  }

  /** One user more. */
  keep(page: number): void {
    if (this.#users[page]++ === 0) this.#unlink(page)
  }

  /** One user less. Give back the last page of a sequence first: what comes later in a chain is worth less. */
  release(page: number): void {
    if (--this.#users[page] > 0) return
    if (this.#chain[page] === 0) {
      this.#free.push(page)
      return
    }
    const last = this.#previous[this.size]
    this.#next[last] = page
    this.#previous[page] = last
    this.#next[page] = this.size
    this.#previous[this.size] = page
    this.#idle++
  }

  /** The page that holds `tokens[at …]` behind the given chain, or −1. */
  find(parent: number, tokens: Int32Array, at: number): number {
    const page = this.#known.get(this.#hashOf(parent, tokens, at)) ?? -1
    return page >= 0 && this.#holds(page, parent, tokens, at) ? page : -1
  }

  chainOf(page: number): number {
    return this.#chain[page]
  }

  /** Makes a full page known, and gives the name of the chain that ends with these tokens. */
  remember(page: number, parent: number, tokens: Int32Array, at: number): number {
    const hash = this.#hashOf(parent, tokens, at)
    const known = this.#known.get(hash) ?? -1
    // Somebody computed the same at the same time: their page serves for finding, ours for its sequence alone.
    if (known >= 0 && this.#holds(known, parent, tokens, at)) return this.#chain[known]
    if (known >= 0) return ++this.#chains
    this.#known.set(hash, page)
    this.#hash[page] = hash
    this.#parent[page] = parent
    this.#tokens.set(tokens.subarray(at, at + this.pageTokens), page * this.pageTokens)
    this.#chain[page] = ++this.#chains
    return this.#chains
  }

  /** Nothing computed so far may be found again: the weights changed. */
  forget(): void {
    for (let page = this.#next[this.size]; page !== this.size; page = this.#next[this.size]) {
      this.#unlink(page)
      this.#free.push(page)
    }
    this.#known.clear()
    this.#chain.fill(0)
  }

  #forgetPage(page: number): void {
    this.#known.delete(this.#hash[page])
    this.#chain[page] = 0
  }

  #unlink(page: number): void {
    this.#next[this.#previous[page]] = this.#next[page]
    this.#previous[this.#next[page]] = this.#previous[page]
    this.#idle--
  }

  #holds(page: number, parent: number, tokens: Int32Array, at: number): boolean {
    if (this.#parent[page] !== parent) return false
    const base = page * this.pageTokens
    for (let i = 0; i < this.pageTokens; i++) if (this.#tokens[base + i] !== tokens[at + i]) return false
    return true
  }

  #hashOf(parent: number, tokens: Int32Array, at: number): number {
    let hash = (parent | 0) ^ 0x811c9dc5
    for (let i = at; i < at + this.pageTokens; i++) {
      hash = Math.imul(hash ^ tokens[i], 0x01000193)
      hash ^= hash >>> 15
    }
    return hash | 0
  }
}
