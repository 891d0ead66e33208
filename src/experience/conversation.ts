import type { Sample, VersionSpan } from '../engine/contract.js'
import { createExperience, type Experience, type ExperienceInit } from '../experience/index.js'
import { type Divergence, divergenceOf, noDivergences } from './divergence.js'

/** A place in a segment: so many tokens, and so many characters of its text. */
interface Place {
  readonly end: number
  readonly textEnd: number
}

/** A stretch of a segment that the model wrote. */
interface Written extends Place {
  readonly start: number
  readonly textStart: number
  /** Where those go on who did not see all of it; see `record`. */
  readonly seen?: Place
  /** Learned in an earlier segment: it is a part of the prompt here. */
  readonly elsewhere?: boolean
  readonly sample: Sample
  /** All messages up to here. */
  readonly messages?: ExperienceInit['messages']
}

/** One sequence of tokens as the model saw it, turn after turn. */
interface Segment {
  text: string
  tokens: Int32Array
  readonly temperature: number
  readonly written: Written[]
}

/** The tokens of the next call, and which recorded turns they begin with. */
export interface Prompt {
  readonly tokens: Int32Array
  readonly text: string
  readonly temperature: number
  /** `unseen`: from where the last of these turns was seen to end. */
  readonly from?: { segment: Segment; turns: number; unseen: boolean }
}

/**
 * What a run has said so far, token by token. The next prompt is never tokenized as a whole: where its text begins with
 * recorded text, the recorded tokens are kept and only the rest is tokenized, so that what is trained on is exactly what
 * was sampled. Where it does not, a new segment begins.
 */
export class Conversation {
  readonly #segments: Segment[] = []
  /** Calls that could not go on from what was recorded, by their reason. */
  readonly diverged = noDivergences()

  promptOf(text: string, temperature: number, encode: (text: string) => Int32Array): Prompt {
    const from = this.#longest((segment, { textEnd }) => {
      if (segment.temperature !== temperature) return false
      return text.length >= textEnd && text.startsWith(segment.text.slice(0, textEnd))
    })
    if (!from) return { tokens: encode(text), text, temperature }
    const { end, textEnd } = placeOf(from)
    const tokens = joined(from.segment.tokens.subarray(0, end), encode(text.slice(textEnd)))
    return { tokens, text, temperature, from }
  }

  /** The same for a prompt that is given as tokens. */
  promptOfTokens(tokens: Int32Array, temperature: number, decode: (tokens: Int32Array) => string): Prompt {
    const from = this.#longest((segment, { end }) => {
      if (segment.temperature !== temperature || tokens.length < end) return false
      for (let i = 0; i < end; i++) if (tokens[i] !== segment.tokens[i]) return false
      return true
    })
    return { tokens, text: decode(tokens), temperature, from }
  }

  /** The recorded turn with the most tokens that fits, as a whole or as far as it was seen. */
  #longest(fits: (segment: Segment, place: Place) => boolean): Prompt['from'] {
    let best: Prompt['from']
    let length = 0
    for (const segment of this.#segments) {
      for (let turns = segment.written.length; turns > 0; turns--) {
        const turn = segment.written[turns - 1]
        if (turn.end <= length) break
        const unseen = !fits(segment, turn)
        const place = unseen ? turn.seen : turn
        if (!place || place.end <= length || (unseen && !fits(segment, place))) continue
        best = { segment, turns, unseen }
        length = place.end
        break
      }
    }
    return best
  }

  /** Counts a call that begins a sequence of its own, though there were others to go on from. */
  count(prompt: Prompt): void {
    const reason = this.#divergence(prompt)
    if (reason) this.diverged[reason]++
  }

  get divergences(): number {
    return Object.values(this.diverged).reduce((sum, count) => sum + count, 0)
  }

  #divergence({ text, temperature, from }: Prompt): Divergence | undefined {
    const last = from?.segment.written.length === from?.turns ? from?.segment.written.at(-1) : undefined
    const goesOn = last && !(from?.unseen && this.#isGoneOnFrom(last.sample))
    return goesOn || this.#segments.length === 0 ? undefined : divergenceOf(text, temperature, this.#segments)
  }

  /** Whether a turn of something recorded begins with this text. */
  wrote(turn: number, text: string): boolean {
    return this.#segments.some((segment) => {
      const written = segment.written[turn]
      return written !== undefined && segment.text.startsWith(text, written.textStart)
    })
  }

  /** Whether a text begins with so many turns of something recorded. */
  follows(text: string, turns: number): boolean {
    return this.#segments.some((segment) => {
      const last = segment.written[turns - 1]
      return last !== undefined && text.startsWith(segment.text.slice(0, (last.seen ?? last).textEnd))
    })
  }

  /** Whether something recorded begins with this text. */
  begins(text: string): boolean {
    return this.#segments.some((segment) => segment.text.startsWith(text))
  }

  /**
   * Several answers to one prompt branch: the first goes on in the segment, the others get segments of their own.
   *
   * `seen`: how much of an answer those saw who asked, where a stop string hides the rest. Whoever goes on from there does
   * so in a segment without that rest, as the model will meet it when it is used; the answer is learned where it is whole.
   */
  record(
    prompt: Prompt,
    sample: Sample,
    text: string,
    messages?: ExperienceInit['messages'],
    seen?: { readonly tokens: number; readonly text: number },
  ): void {
    const { from } = prompt
    const [start, textStart] = [prompt.tokens.length, prompt.text.length]
    const written: Written = {
      start,
      end: start + sample.tokens.length,
      textStart,
      textEnd: textStart + text.length,
      seen: seen && { end: start + seen.tokens, textEnd: textStart + seen.text },
      sample,
      messages,
    }
    const tokens = joined(prompt.tokens, sample.tokens)
    if (from && from.segment.written.length === from.turns && !from.unseen) {
      Object.assign(from.segment, { tokens, text: prompt.text + text })
      from.segment.written.push(written)
      return
    }
    this.#segments.push({
      text: prompt.text + text,
      tokens,
      temperature: prompt.temperature,
      written: [...earlier(from), written],
    })
  }

  /** Takes back an answer that nobody got. One that somebody went on from stays. */
  withdraw(sample: Sample): void {
    const at = this.#segments.findIndex(({ written }) => written.at(-1)?.sample === sample)
    if (at < 0 || this.#isGoneOnFrom(sample)) return
    const segment = this.#segments[at]
    segment.written.pop()
    const last = segment.written.at(-1)
    if (!last || last.elsewhere) this.#segments.splice(at, 1)
    else
      Object.assign(segment, { tokens: segment.tokens.slice(0, last.end), text: segment.text.slice(0, last.textEnd) })
  }

  /** Whether somebody went on from where an answer was seen to end. */
  #isGoneOnFrom(sample: Sample): boolean {
    return this.#segments.some(({ written }) => written.some((one) => one.elsewhere && one.sample === sample))
  }

  get segments(): number {
    return this.#segments.length
  }

  /**
   * One experience per segment. A turn that several segments share is learned in the first of them, so that every
   * sampled token is learned once; in the others it belongs to the prompt. A segment that another one continues, which
   * only happens after an answer was withdrawn, is left out: its turns are learned there.
   */
  experiences(): Experience[] {
    // Segments share the objects of their turns; an answer that is recorded again, with another prompt, has its own.
    const continued = new Set(this.#segments.flatMap(({ written }) => written.slice(0, -1)))
    const learned = new Set<Written>()
    return this.#segments.flatMap((segment) => {
      const last = segment.written[segment.written.length - 1]
      if (continued.has(last) || learned.has(last)) return []
      const written = segment.written.map((turn) => (learned.has(turn) ? { ...turn, elsewhere: true } : turn))
      for (const turn of segment.written) learned.add(turn)
      return [asExperience({ ...segment, written })]
    })
  }

  /** The conversation as one sequence, in which of what stop strings hid only the last is left. Undefined: it branches. */
  whole(): Experience | undefined {
    const last = this.#segments.at(-1)
    if (!last) return undefined
    const goesOn = ({ written }: Segment) => last.written.some(({ sample }) => sample === written.at(-1)!.sample)
    if (!this.#segments.every(goesOn)) return undefined
    return asExperience({ ...last, written: last.written.map((turn) => ({ ...turn, elsewhere: false })) })
  }

  clear(): void {
    this.#segments.length = 0
  }
}

function placeOf({ segment, turns, unseen }: NonNullable<Prompt['from']>): Place {
  const turn = segment.written[turns - 1]
  return unseen ? turn.seen! : turn
}

/** The turns that a new segment begins with. */
function earlier(from: Prompt['from']): Written[] {
  if (!from) return []
  const turns = from.segment.written.slice(0, from.turns)
  if (!from.unseen) return turns
  const { seen, ...last } = turns.pop()!
  return [...turns, { ...last, ...seen!, elsewhere: true }]
}

function asExperience({ tokens, text, temperature, written: all }: Segment): Experience {
  const written = all.filter(({ elsewhere }) => !elsewhere)
  const [{ start: promptLength, textStart: promptText }] = written
  const length = tokens.length - promptLength
  const actionMask = new Uint8Array(length)
  const logprobs = new Float32Array(length)
  const drawn = written.some(({ sample }) => sample.drawnLogprobs) ? new Float32Array(length) : undefined
  const versions: VersionSpan[] = []
  for (const { start, end, sample } of written) {
    const length = end - start
    if (sample.choices) actionMask.set(sample.choices.subarray(0, length), start - promptLength)
    else actionMask.fill(1, start - promptLength, end - promptLength)
    logprobs.set(sample.logprobs.subarray(0, length), start - promptLength)
    drawn?.set((sample.drawnLogprobs ?? sample.logprobs).subarray(0, length), start - promptLength)
    for (const span of sample.versions) {
      if (versions.at(-1)?.version === span.version || span.from >= length) continue
      versions.push({ version: span.version, from: span.from + start - promptLength })
    }
  }
  return createExperience({
    type: 'multi_turn',
    eid: { suffix: '' },
    tokens,
    promptLength,
    actionMask,
    logprobs,
    drawnLogprobs: drawn,
    temperature,
    ...versionFields(versions),
    messages: written.at(-1)!.messages,
    truncateStatus: written.at(-1)!.sample.finish === 'length' ? 'response_truncated' : undefined,
    promptText: text.slice(0, promptText),
    responseText: text.slice(promptText),
  })
}

/** The oldest version, and the spans where there are several. */
export function versionFields(spans: readonly VersionSpan[]): Pick<ExperienceInit, 'modelVersion' | 'versions'> {
  const oldest = spans.length === 0 ? 0 : Math.min(...spans.map(({ version }) => version))
  return { modelVersion: oldest, versions: spans.length > 1 ? spans : undefined }
}

export function joined(head: Int32Array, tail: Int32Array): Int32Array {
  const all = new Int32Array(head.length + tail.length)
  all.set(head)
  all.set(tail, head.length)
  return all
}
