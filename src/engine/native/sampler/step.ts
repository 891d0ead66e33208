import type { CheckedRequest } from '../../checked-request.js'

/** Numbers per entry of the arrays below; native/src/sample/sampler.h has the same. */
const SEGMENT = 4
const OUT = 2
export const DRAW = 16
const DRAW_FLOATS = 5

/**
 * One step as the addon takes it: what to compute in, what was drawn out, in the same arrays step after step.
 *
 * A segment is some tokens of one sequence. An out is a row whose logits are wanted: to score a known next token, to
 * draw from (several times, for the samples of one prompt), or both. Draws stand in the order of their outs.
 */
export class Step {
  /** rows, segments, pages, copies, outs, draws, history, banned, top, bias, words of masks */
  readonly counts = new Int32Array(11)
  ids = new Int32Array(1024)
  /** rows, first position, offset and number of pages */
  segments = new Int32Array(256 * SEGMENT)
  pages = new Int32Array(4096)
  /** from, to: done before anything else */
  copies = new Int32Array(64)
  /** row, token to score or −1 */
  outs = new Int32Array(256 * OUT)
  outInvT = new Float32Array(256)
  /**
   * out, greedy, top-k, seed (low, high), sample index, position, history (offset, count), banned (…), top (…), bias (…),
   * offset of the mask or −1
   */
  draws = new Int32Array(256 * DRAW)
  /** top-p, min-p, penalties: repetition, presence, frequency */
  drawFloats = new Float32Array(256 * DRAW_FLOATS)
  history = new Int32Array(1024)
  banned = new Int32Array(64)
  biased = new Int32Array(64)
  bias = new Float32Array(64)
  /** A bit for every token. */
  allowed = new Int32Array(64)
  // Results
  scores = new Float32Array(256)
  tokens = new Int32Array(256)
  logprobs = new Float32Array(256)
  drawn = new Float32Array(256)
  topTokens = new Int32Array(64)
  topLogprobs = new Float32Array(64)

  get rows(): number {
    return this.counts[0]
  }

  clear(): void {
    this.counts.fill(0)
  }

  copy(from: number, to: number): void {
    const at = 2 * this.counts[3]++
    this.copies = room(this.copies, at + 2)
    this.copies[at] = from
    this.copies[at + 1] = to
  }

  /** Tokens [start, start + rows) of a sequence. */
  segment(tokens: Int32Array, start: number, rows: number, pages: readonly number[]): void {
    const { counts } = this
    const [first, at, page] = counts
    this.ids = room(this.ids, first + rows)
    for (let i = 0; i < rows; i++) this.ids[first + i] = tokens[start + i]
    const count = pages.length
    this.pages = room(this.pages, page + count)
    for (let i = 0; i < count; i++) this.pages[page + i] = pages[i]
    this.segments = room(this.segments, (at + 1) * SEGMENT)
    this.segments[at * SEGMENT] = rows
    this.segments[at * SEGMENT + 1] = start
    this.segments[at * SEGMENT + 2] = page
    this.segments[at * SEGMENT + 3] = count
    counts[0] += rows
    counts[1]++
    counts[2] += count
  }

  /** First position of a segment. */
  startOf(segment: number): number {
    return this.segments[segment * SEGMENT + 1]
  }

  /** Wants the logits of a row; `target`: the token to score, or −1. */
  out(row: number, target: number, invT: number): number {
    const at = this.counts[4]++
    this.outs = room(this.outs, (at + 1) * OUT)
    this.outInvT = room(this.outInvT, at + 1)
    this.scores = room(this.scores, at + 1)
    this.outs[at * OUT] = row
    this.outs[at * OUT + 1] = target
    this.outInvT[at] = invT
    return at
  }

  /** Draws from the last out, with the random number that belongs to (seed, index, position). */
  drawFrom(spec: CheckedRequest, index: number, position: number): void {
    const at = this.counts[5]++
    this.draws = room(this.draws, (at + 1) * DRAW)
    this.drawFloats = room(this.drawFloats, (at + 1) * DRAW_FLOATS)
    this.tokens = room(this.tokens, at + 1)
    this.logprobs = room(this.logprobs, at + 1)
    this.drawn = room(this.drawn, at + 1)
    const { draws } = this
    let i = at * DRAW
    draws[i++] = this.counts[4] - 1
    draws[i++] = spec.greedy ? 1 : 0
    draws[i++] = spec.topK
    draws[i++] = spec.seedLow
    draws[i++] = spec.seedHigh
    draws[i++] = index
    draws[i++] = position
    draws[i++] = this.counts[6]
    draws[i++] = 0
    draws[i++] = this.counts[7]
    draws[i++] = 0
    draws[i++] = this.counts[8]
    draws[i++] = spec.top
    draws[i++] = this.counts[9]
    draws[i++] = 0
    draws[i++] = -1
    this.counts[8] += spec.top
    this.topTokens = room(this.topTokens, this.counts[8])
    this.topLogprobs = room(this.topLogprobs, this.counts[8])
    i = at * DRAW_FLOATS
    this.drawFloats[i++] = spec.topP
    this.drawFloats[i++] = spec.minP
    this.drawFloats[i++] = spec.penalty
    this.drawFloats[i++] = spec.presence
    this.drawFloats[i++] = spec.frequency
  }

  /** Tokens that the penalties of the last draw apply to: those drawn so far, for repetition behind their prompt. */
  penalize(tokens: Int32Array): void {
    const at = this.counts[6]
    this.history = room(this.history, at + tokens.length)
    this.history.set(tokens, at)
    this.draws[(this.counts[5] - 1) * DRAW + 8] = tokens.length
    this.counts[6] += tokens.length
  }

  /** Tokens that the last draw must not give. */
  ban(tokens: readonly number[]): void {
    const at = this.counts[7]
    this.banned = room(this.banned, at + tokens.length)
    for (let i = 0; i < tokens.length; i++) this.banned[at + i] = tokens[i]
    this.draws[(this.counts[5] - 1) * DRAW + 10] = tokens.length
    this.counts[7] += tokens.length
  }

  /** What is added to logits at the last draw. */
  lean(tokens: readonly number[], bias: readonly number[]): void {
    const at = this.counts[9]
    this.biased = room(this.biased, at + tokens.length)
    this.bias = room(this.bias, at + tokens.length)
    this.biased.set(tokens, at)
    this.bias.set(bias, at)
    this.draws[(this.counts[5] - 1) * DRAW + 14] = tokens.length
    this.counts[9] += tokens.length
  }

  /** The only tokens that the last draw may give, as bits. */
  restrict(words: Uint32Array): void {
    const at = this.counts[10]
    this.allowed = room(this.allowed, at + words.length)
    this.allowed.set(words, at)
    this.draws[(this.counts[5] - 1) * DRAW + 15] = at
    this.counts[10] += words.length
  }

  /** The likeliest tokens at a draw; copies, the arrays are used again. */
  topOf(draw: number): { tokens: Int32Array; logprobs: Float32Array } {
    const from = this.draws[draw * DRAW + 11]
    const to = from + this.draws[draw * DRAW + 12]
    return { tokens: this.topTokens.slice(from, to), logprobs: this.topLogprobs.slice(from, to) }
  }
}

/** The array, or one at least twice as long with the same beginning. */
export function room<T extends Int32Array | Float32Array>(array: T, length: number): T {
  if (length <= array.length) return array
  const larger = new (array.constructor as new (n: number) => T)(Math.max(length, 2 * array.length))
  larger.set(array)
  return larger
}
