import { commonPrefix } from '../../../base/common-prefix.js'
import { TrinityError } from '../../../base/error.js'
import { nothingToDraw } from '../../allowed-tokens.js'
import type { PagePool } from './pages.js'
import { type Ending, type PendingRequest, Sequence } from './sequence.js'
import type { Step } from './step.js'

/** Parameters times prompt tokens of one step: about a twentieth of a second on two cores. */
const PREFILL_WORK = 13e9
/** Instead of a token: every one is out of reach. */
const NOTHING = -2
/** Sequences at the head of the queue that are looked at for one that need not wait for another's prompt. */
const LOOK = 64

export interface SchedulerOptions {
  readonly maxBatch: number
  readonly maxQueue: number
  readonly prefixCaching: boolean
  /** Prompt tokens of one step when nobody waits for a next token; half as many when somebody does. */
  readonly prefillTokens: number
}

/** Enough for fast products; more for a small model, whose steps are short. */
export function prefillTokens(parameters: number): number {
  return Math.round(Math.min(2048, Math.max(512, PREFILL_WORK / parameters)))
}

/**
 * Decides what each step computes. Sequences join and leave at any step; a prompt is computed in pieces beside the
 * others' next tokens. When pages run out, the sequence that came last gives up its own and is computed again later:
 * its tokens are kept, and the numbers come out the same.
 */
export class Scheduler {
  readonly pool: PagePool
  /** Version of the weights that the tokens are drawn with. */
  version = -1
  /** While set, no new request begins: those that have begun are being finished. */
  draining = false
  promptTokens = 0
  cachedTokens = 0
  sampledTokens = 0
  readonly #options: SchedulerOptions
  /** In the order in which they joined. */
  readonly #running: Sequence[] = []
  /** Begun, but without pages: they go first. */
  readonly #resumed: Sequence[] = []
  readonly #fresh: Sequence[] = []
  /** What the step in hand computes: sequences, rows and draws of each. */
  readonly #inStep: Sequence[] = []
  readonly #rowsOf: number[] = []
  readonly #drawsOf: number[] = []

  constructor(pool: PagePool, options: SchedulerOptions) {
    this.pool = pool
    this.#options = options
  }

  get running(): number {
    return this.#running.length
  }
  get waiting(): number {
    return this.#fresh.length + this.#resumed.length
  }
  /** Nothing that has begun is left. */
  get drained(): boolean {
    return this.#running.length === 0 && this.#resumed.length === 0
  }

  enqueue(job: PendingRequest): void {
    const slots = Math.max(0, this.#options.maxBatch - this.#running.length - this.#resumed.length)
    if (this.#fresh.length >= this.#options.maxQueue + slots) {
      throw new TrinityError('engine/busy', `${this.#fresh.length} requests are already waiting`, {
        hint: 'send it again later, or raise maxQueue',
      })
    }
    this.#fresh.push(new Sequence(job, 0, job.n))
  }

  /** Fills the step; false when there is nothing to do. */
  plan(step: Step): boolean {
    step.clear()
    this.#inStep.length = 0
    this.#rowsOf.length = 0
    this.#drawsOf.length = 0
    for (let i = 0; i < this.#running.length; i++) {
      const sequence = this.#running[i]
      if (sequence.pending === 1 && this.#makeRoom(sequence)) this.#add(step, sequence, 1)
    }
    const { prefillTokens } = this.#options
    let budget = step.rows > 0 ? prefillTokens >> 1 : prefillTokens
    for (let i = 0; i < this.#running.length && budget > 0; i++) {
      const { pending } = this.#running[i]
      if (pending > 1) budget -= this.#add(step, this.#running[i], Math.min(pending, budget))
    }
    while (budget > 0) {
      const sequence = this.#admit()
      if (!sequence) break
      budget -= this.#add(step, sequence, Math.min(sequence.pending, budget))
    }
    return step.rows > 0
  }

  /** Hands out what the step has drawn. */
  absorb(step: Step): void {
    let out = 0
    let draw = 0
    for (let i = 0; i < this.#inStep.length; i++) {
      const sequence = this.#inStep[i]
      const rows = this.#rowsOf[i]
      const draws = this.#drawsOf[i]
      const alive = sequence.state === 'running'
      if (sequence.job.promptLogprobs && !sequence.job.promptScored) out = this.#readScores(step, i, out)
      if (draws > 0) out++
      if (alive) {
        sequence.computed += rows
        if (this.#options.prefixCaching) this.#remember(sequence)
        if (draws > 0) this.#draws(step, sequence, draw, draws)
      }
      draw += draws
    }
  }

  /** Ends every sample of a request with what it has. */
  abort(job: PendingRequest): void {
    for (const sequence of job.live) this.#finish(sequence, { finish: 'abort' })
  }

  /** Ends a request without an answer. */
  fail(job: PendingRequest, error: unknown): void {
    job.fail(error)
    this.abort(job)
  }

  jobs(begun: 'begun' | 'all'): Set<PendingRequest> {
    const all = [...this.#running, ...this.#resumed, ...(begun === 'all' ? this.#fresh : [])]
    return new Set(all.map((sequence) => sequence.job))
  }

  /** Everybody gives up pages, and nothing computed so far is found again. */
  restart(): void {
    for (const sequence of [...this.#running].reverse()) this.#preempt(sequence)
    this.pool.forget()
  }

  #add(step: Step, sequence: Sequence, rows: number): number {
    const { job, computed } = sequence
    const { wish, prompt } = job
    if (sequence.copyFrom >= 0) {
      step.copy(sequence.copyFrom, sequence.pages[sequence.pages.length - 1])
      this.pool.release(sequence.copyFrom)
      sequence.copyFrom = -1
    }
    const first = step.rows
    step.segment(sequence.tokens, computed, rows, sequence.pages)
    if (job.promptLogprobs && !job.promptScored) {
      for (let i = 0; i < rows && computed + i + 1 < prompt.length; i++)
        step.out(first + i, prompt[computed + i + 1], wish.invT)
    }
    const draws = rows === sequence.pending ? sequence.fanout : 0
    if (draws > 0) step.out(first + rows - 1, -1, wish.invT)
    for (let i = 0; i < draws; i++) {
      step.drawFrom(wish, sequence.index + i, sequence.made)
      if (wish.reshaped || wish.greedy) this.#shape(step, sequence, sequence.index + i)
    }
    this.#inStep.push(sequence)
    this.#rowsOf.push(rows)
    this.#drawsOf.push(draws)
    return rows
  }

  /** What changes the logits of the last draw. */
  #shape(step: Step, { job, tokens, length, made }: Sequence, index: number): void {
    const { wish, prompt, allowed } = job
    const answer = tokens.subarray(prompt.length, length)
    if (wish.penalty !== 1) step.penalize(tokens.subarray(0, length))
    else if (wish.presence !== 0 || wish.frequency !== 0) step.penalize(answer)
    if (wish.biased.length > 0) step.lean(wish.biased, wish.bias)
    if (made < wish.minTokens && wish.banned.length > 0) step.ban(wish.banned)
    try {
      const mask = allowed?.(index, answer)
      if (mask) step.restrict(mask)
    } catch (error) {
      // said once the step is done: it cannot lose a sequence now
      job.broken ??= { error }
    }
  }

  #readScores(step: Step, segment: number, out: number): number {
    const { job } = this.#inStep[segment]
    let position = step.startOf(segment)
    const end = position + this.#rowsOf[segment]
    for (; position < end && position + 1 < job.prompt.length; position++)
      job.promptLogprobs![position + 1] = step.scores[out++]
    if (position + 1 >= job.prompt.length) job.promptScored = true
    return out
  }

  #draws(step: Step, sequence: Sequence, draw: number, draws: number): void {
    const parts = [sequence]
    for (let i = 1; i < draws; i++) parts.push(this.#fork(sequence, sequence.index + i))
    sequence.fanout = 1
    const { job } = sequence
    if (job.broken) this.fail(job, job.broken.error)
    for (let i = 0; i < draws; i++) {
      const token = step.tokens[draw + i]
      if (token < 0) this.fail(job, token === NOTHING ? nothingToDraw(parts[i].made) : notFinite())
      this.#take(step, parts[i], draw + i)
    }
  }

  #take(step: Step, sequence: Sequence, draw: number): void {
    if (sequence.state === 'done') return
    const { job } = sequence
    const token = step.tokens[draw]
    const logprob = step.logprobs[draw]
    const ending = sequence.append(token, logprob, step.drawn[draw], this.version)
    sequence.top?.push(step.topOf(draw))
    this.sampledTokens++
    if (job.onToken) {
      try {
        job.onToken(sequence.index, token, logprob)
      } catch (error) {
        this.fail(job, error)
      }
    }
    if (ending) this.#finish(sequence, ending)
  }

  /** Another sample of the same prompt: full pages are shared, the one that both will write into is copied. */
  #fork(leader: Sequence, index: number): Sequence {
    const { pool } = this
    const sequence = new Sequence(leader.job, index, 1)
    const full = Math.floor(leader.computed / pool.pageTokens)
    const own = leader.pages.length > full ? pool.take() : -1
    if ((leader.pages.length > full && own < 0) || this.#running.length >= this.#options.maxBatch) {
      if (own >= 0) pool.release(own)
      this.#resumed.push(sequence)
      return sequence
    }
    for (let i = 0; i < full; i++) {
      pool.keep(leader.pages[i])
      sequence.pages.push(leader.pages[i])
    }
    if (own >= 0) {
      sequence.copyFrom = leader.pages[full]
      pool.keep(sequence.copyFrom)
      sequence.pages.push(own)
    }
    sequence.computed = leader.computed
    sequence.knownPages = leader.knownPages
    sequence.chain = leader.chain
    sequence.state = 'running'
    this.#running.push(sequence)
    return sequence
  }

  /** A page for the next token, if need be from those who came later; false when the sequence itself had to go. */
  #makeRoom(sequence: Sequence): boolean {
    if (sequence.pages.length * this.pool.pageTokens > sequence.computed) return true
    for (;;) {
      const page = this.pool.take()
      if (page >= 0) {
        sequence.pages.push(page)
        return true
      }
      const last = this.#running[this.#running.length - 1]
      this.#preempt(last)
      if (last === sequence) return false
    }
  }

  #preempt(sequence: Sequence): void {
    this.#running.splice(this.#running.lastIndexOf(sequence), 1)
    this.#releasePages(sequence)
    sequence.state = 'waiting'
    this.#resumed.unshift(sequence)
  }

  /** Lets the next sequence in when there is room for all that it has to compute. */
  #admit(): Sequence | undefined {
    const queue = this.#resumed.length > 0 ? this.#resumed : this.draining ? [] : this.#fresh
    const at = queue.findIndex((one, i) => i >= LOOK || !this.#soonKnown(one))
    const sequence = at < LOOK ? queue[at] : undefined
    if (!sequence) return undefined
    const alone = this.#running.length === 0
    if (!alone && this.#slots() + sequence.fanout > this.#options.maxBatch) return undefined
    const { pool } = this
    const { job } = sequence
    this.#findPrefix(sequence)
    const missing = Math.ceil(sequence.length / pool.pageTokens) - sequence.pages.length
    // One page in a hundred stays free for those who run, or they would soon throw the newcomer out again.
    const spare = alone ? 0 : Math.ceil(pool.size / 100)
    if (missing + spare > pool.available) {
      this.#releasePages(sequence)
      return undefined
    }
    for (let i = 0; i < missing; i++) sequence.pages.push(pool.take())
    queue.splice(at, 1)
    if (!job.started) {
      job.started = true
      job.cachedTokens = sequence.computed
      this.promptTokens += job.prompt.length
      this.cachedTokens += sequence.computed
    }
    sequence.state = 'running'
    this.#running.push(sequence)
    return sequence
  }

  /** Whether this step computes a page that the sequence begins with: it finds it afterward, and waits until then. */
  #soonKnown(sequence: Sequence): boolean {
    const { job, tokens, length } = sequence
    if (!this.#options.prefixCaching || (job.promptLogprobs && !job.promptScored)) return false
    const { pageTokens } = this.pool
    return this.#inStep.some((other, i) => {
      if (this.#rowsOf[i] === 1) return false
      const end = Math.min(other.computed + this.#rowsOf[i], length - 1)
      const page = Math.floor(other.computed / pageTokens) * pageTokens + pageTokens
      return page <= end && commonPrefix(tokens.subarray(0, page), other.tokens) === page
    })
  }

  /** Batch places that are taken, or will be once the samples of a prompt part. */
  #slots(): number {
    let slots = 0
    for (const sequence of this.#running) slots += sequence.fanout
    return slots
  }

  /** Takes over the known pages of its beginning. The last token is always computed: its logits are needed. */
  #findPrefix(sequence: Sequence): void {
    const { job, tokens } = sequence
    if (!this.#options.prefixCaching || (job.promptLogprobs && !job.promptScored)) return
    const { pool } = this
    for (let at = 0; at + pool.pageTokens < sequence.length; at += pool.pageTokens) {
      const page = pool.find(sequence.chain, tokens, at)
      if (page < 0) break
      pool.keep(page)
      sequence.pages.push(page)
      sequence.chain = pool.chainOf(page)
      sequence.knownPages++
      sequence.computed += pool.pageTokens
    }
  }

  #remember(sequence: Sequence): void {
    const { pool } = this
    while ((sequence.knownPages + 1) * pool.pageTokens <= sequence.computed) {
      const at = sequence.knownPages * pool.pageTokens
      sequence.chain = pool.remember(sequence.pages[sequence.knownPages], sequence.chain, sequence.tokens, at)
      sequence.knownPages++
    }
  }

  #releasePages(sequence: Sequence): void {
    if (sequence.copyFrom >= 0) this.pool.release(sequence.copyFrom)
    sequence.copyFrom = -1
    for (let page = sequence.pages.pop(); page !== undefined; page = sequence.pages.pop()) this.pool.release(page)
    sequence.computed = 0
    sequence.knownPages = 0
    sequence.chain = 0
  }

  #finish(sequence: Sequence, ending: Ending): void {
    if (sequence.state === 'done') return
    const place = [this.#running, this.#resumed, this.#fresh].find((list) => list.includes(sequence))
    place?.splice(place.indexOf(sequence), 1)
    sequence.state = 'done'
    this.#releasePages(sequence)
    const { job } = sequence
    job.live.delete(sequence)
    // Samples that have not parted yet end together.
    for (let i = 0; i < sequence.fanout; i++) job.deliver(sequence.index + i, sequence.sample(ending))
  }
}

function notFinite(): TrinityError {
  return new TrinityError('engine/not-finite', 'the model produces logits that are not finite', {
    hint: 'its weights are damaged or training has diverged; go back to an earlier checkpoint',
  })
}
