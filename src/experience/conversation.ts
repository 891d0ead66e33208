import type { Sample, VersionSpan } from '../engine/contract.js'
import { createExperience, type Experience, type ExperienceInit } from '../experience/index.js'

/** A stretch of a segment that the model wrote. */
interface Written {
  readonly start: number
  readonly end: number
  /** Length of the segment's text up to here. */
  readonly textEnd: number
  readonly sample: Sample
  /** All messages up to here. */
  readonly messages?: ExperienceInit['messages']
}

/** One sequence of tokens as the model saw it, turn after turn. */
interface Segment {
  text: string
  tokens: Int32Array
  readonly temperature: number
  /** Length of the text before the model's first word. */
  readonly promptText: number
  readonly written: Written[]
}

/** The tokens of the next call, and which recorded turns they begin with. */
export interface Prompt {
  readonly tokens: Int32Array
  readonly text: string
  readonly temperature: number
  readonly from?: { segment: Segment; turns: number }
  /** There was something to go on from, and this does not: the template or the caller changed what was said. */
  readonly diverged: boolean
}

/**
 * What a run has said so far, token by token. The next prompt is never tokenized as a whole: where its text begins with
 * recorded text, the recorded tokens are kept and only the rest is tokenized, so that what is trained on is exactly what
 * was sampled. Where it does not, a new segment begins.
 */
export class Conversation {
  readonly #segments: Segment[] = []
  /** Calls that could not go on from what was recorded. */
  divergences = 0

  promptOf(text: string, temperature: number, encode: (text: string) => Int32Array): Prompt {
    const from = this.#longest((segment, turn) => {
      if (segment.temperature !== temperature) return false
      return text.length >= turn.textEnd && text.startsWith(segment.text.slice(0, turn.textEnd))
    })
    const diverged = from === undefined && this.#segments.length > 0
    if (!from) return { tokens: encode(text), text, temperature, diverged }
    const last = from.segment.written[from.turns - 1]
    const tokens = joined(from.segment.tokens.subarray(0, last.end), encode(text.slice(last.textEnd)))
    return { tokens, text, temperature, from, diverged }
  }

  /** The same for a prompt that is given as tokens. */
  promptOfTokens(tokens: Int32Array, temperature: number, decode: (tokens: Int32Array) => string): Prompt {
    const from = this.#longest((segment, turn) => {
      if (segment.temperature !== temperature || tokens.length < turn.end) return false
      for (let i = 0; i < turn.end; i++) if (tokens[i] !== segment.tokens[i]) return false
      return true
    })
    const diverged = from === undefined && this.#segments.length > 0
    return { tokens, text: decode(tokens), temperature, from, diverged }
  }

  /** The recorded turn with the most tokens that fits. */
  #longest(fits: (segment: Segment, turn: Written) => boolean): Prompt['from'] {
    let best: Prompt['from']
    let length = 0
    for (const segment of this.#segments) {
      for (let turns = segment.written.length; turns > 0; turns--) {
        const turn = segment.written[turns - 1]
        if (turn.end <= length) break
        if (!fits(segment, turn)) continue
        best = { segment, turns }
        length = turn.end
        break
      }
    }
    return best
  }

  /** Whether something recorded begins with this text. */
  begins(text: string): boolean {
    return this.#segments.some((segment) => segment.text.startsWith(text))
  }

  /** Several answers to one prompt branch: the first goes on in the segment, the others get segments of their own. */
  record(prompt: Prompt, sample: Sample, text: string, messages?: ExperienceInit['messages']): void {
    const { from } = prompt
    const written: Written = {
      start: prompt.tokens.length,
      end: prompt.tokens.length + sample.tokens.length,
      textEnd: prompt.text.length + text.length,
      sample,
      messages,
    }
    const tokens = joined(prompt.tokens, sample.tokens)
    if (from && from.segment.written.length === from.turns) {
      Object.assign(from.segment, { tokens, text: prompt.text + text })
      from.segment.written.push(written)
      return
    }
    this.#segments.push({
      text: prompt.text + text,
      tokens,
      temperature: prompt.temperature,
      promptText: from ? from.segment.promptText : prompt.text.length,
      written: [...(from?.segment.written.slice(0, from.turns) ?? []), written],
    })
  }

  /** Takes back an answer that nobody got. One that somebody went on from stays. */
  withdraw(sample: Sample): void {
    const at = this.#segments.findIndex(({ written }) => written.at(-1)?.sample === sample)
    if (at < 0) return
    const segment = this.#segments[at]
    segment.written.pop()
    const last = segment.written.at(-1)
    if (!last) this.#segments.splice(at, 1)
    else
      Object.assign(segment, { tokens: segment.tokens.slice(0, last.end), text: segment.text.slice(0, last.textEnd) })
  }

  get segments(): number {
    return this.#segments.length
  }

  /** One experience per segment, with a mask over what the model wrote. */
  experiences(): Experience[] {
    return this.#segments.map(asExperience)
  }

  clear(): void {
    this.#segments.length = 0
  }
}

function asExperience({ tokens, text, promptText, temperature, written }: Segment): Experience {
  const promptLength = written[0].start
  const length = tokens.length - promptLength
  const actionMask = new Uint8Array(length)
  const logprobs = new Float32Array(length)
  const drawn = written.some(({ sample }) => sample.drawnLogprobs) ? new Float32Array(length) : undefined
  const versions: VersionSpan[] = []
  for (const { start, end, sample } of written) {
    actionMask.fill(1, start - promptLength, end - promptLength)
    logprobs.set(sample.logprobs, start - promptLength)
    drawn?.set(sample.drawnLogprobs ?? sample.logprobs, start - promptLength)
    for (const span of sample.versions) {
      if (versions.at(-1)?.version === span.version) continue
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
