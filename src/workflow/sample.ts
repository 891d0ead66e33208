import { setTimeout as sleep } from 'node:timers/promises'
import { TrinityError } from '../base/error.js'
import { timeSlice } from '../base/time-slice.js'
import { nextCall } from '../engine/calls.js'
import type { OnToken, Sample, SampleModel, SampleRequest } from '../engine/contract.js'
import type { Tokenizer } from '../model/index.js'
import { withChoices } from './choices.js'
import { goesOnExactly, rejoined, restOf } from './cut-sample.js'

/** A sample with its text. */
export interface Answer {
  readonly sample: Sample
  /** For the reader: special tokens and stop string left out. */
  readonly text: string
  /** What the model wrote, special tokens inside included; end token and what a stop string hides left out. */
  readonly raw: string
  /** Every token. */
  readonly recorded: string
  /** Where a stop string hides the rest: tokens, and the characters of `recorded`, that come surely before it. */
  readonly seen?: { readonly tokens: number; readonly text: number }
}

interface Options {
  readonly signal?: AbortSignal
  readonly deadlineMs: number
  readonly onToken?: OnToken
  readonly keepStop: boolean
}

/** How long to wait when the engine's queue is full, and how often a request that a weight update cut off is sent again. */
const BUSY_MS = 20
const MOST_CUTS = 20

/**
 * Samples until every answer is whole. What an update of the weights cut off goes on from where it was; when the caller's
 * own signal fires, the engine stops and this fails with the signal's reason.
 */
export async function sampleAnswers(
  sampler: Pick<SampleModel, 'sample'>,
  tokenizer: Tokenizer,
  request: SampleRequest,
  { signal, deadlineMs, onToken, keepStop }: Options,
): Promise<Answer[]> {
  const sample = (asked: SampleRequest, told?: OnToken) => patiently(sampler, asked, { signal, deadlineMs }, told)
  // Somebody who reads along cannot be told another beginning.
  const goesOn = onToken !== undefined || goesOnExactly(request)
  let samples = await sample(request, onToken)
  for (let cuts = 1; samples.some(isCut); cuts++) {
    if (cuts === MOST_CUTS) throw cutOff()
    samples = goesOn ? await Promise.all(samples.map(whole)) : await sample(request)
  }
  // Engines answer many at once; reading their tokens takes turns.
  await timeSlice()
  return samples.map((one) => answerOf(request.allowed ? withChoices(one) : one, tokenizer, keepStop))

  async function whole(one: Sample, index: number): Promise<Sample> {
    if (!isCut(one)) return one
    const told = onToken && ((_: number, token: number, logprob: number) => onToken(index, token, logprob))
    const [rest] = await sample(restOf(request, index, one), told)
    return rejoined(one, rest)
  }
}

const isCut = ({ finish }: Sample) => finish === 'abort'

/** Waits while the engine's queue is full. */
async function patiently(
  sampler: Pick<SampleModel, 'sample'>,
  request: SampleRequest,
  { signal, deadlineMs }: Pick<Options, 'signal' | 'deadlineMs'>,
  onToken?: OnToken,
): Promise<Sample[]> {
  for (;;) {
    signal?.throwIfAborted()
    try {
      const samples = await sampler.sample(request, nextCall(signal, deadlineMs), onToken)
      if (samples.some(isCut)) signal?.throwIfAborted()
      return samples
    } catch (error) {
      if (!(error instanceof TrinityError) || error.code !== 'engine/busy') throw error
      await sleep(BUSY_MS, undefined, { signal })
    }
  }
}

function cutOff(): TrinityError {
  return new TrinityError('engine/aborted', `the engine cut the request off ${MOST_CUTS} times`, {
    hint: 'new weights arrive before an answer is finished: raise synchronizer.sync_interval',
  })
}

function answerOf(sample: Sample, tokenizer: Tokenizer, keepStop: boolean): Answer {
  const { tokens, stoppedBy, finish } = sample
  if (tokens.length === 0) {
    throw new TrinityError('engine/empty', 'the engine returned no tokens', { hint: 'raise max_tokens' })
  }
  const recorded = tokenizer.decode(tokens, { skipSpecial: false })
  const ended = finish === 'stop' && tokenizer.isSpecial(tokens[tokens.length - 1])
  const inner = ended ? tokens.subarray(0, -1) : tokens
  const raw = ended ? tokenizer.decode(inner, { skipSpecial: false }) : recorded
  const text = inner.some((token) => tokenizer.isSpecial(token)) ? tokenizer.decode(tokens) : raw
  const hidden = typeof stoppedBy === 'string' ? hiddenBy(stoppedBy, raw, inner, tokenizer, keepStop) : 0
  if (hidden === 0) return { sample, text, raw, recorded }
  const visible = raw.slice(0, raw.length - hidden)
  return {
    sample,
    text: text.slice(0, text.length - hidden),
    raw: visible,
    recorded,
    seen: wholeTokens(visible, inner, tokenizer),
  }
}

/** How many characters at the end of a text are not shown: from its stop string on, or behind it. */
function hiddenBy(stop: string, text: string, tokens: Int32Array, tokenizer: Tokenizer, keepStop: boolean): number {
  // The last token completed it: an earlier one was allowed to pass.
  const before = tokenizer.decode(tokens.subarray(0, -1), { skipSpecial: false })
  const at = text.indexOf(stop, Math.max(0, before.length - stop.length + 1))
  if (at < 0) return 0
  return text.length - (keepStop ? at + stop.length : at)
}

/** The most tokens whose text a visible text begins with. */
export function wholeTokens(visible: string, tokens: Int32Array, tokenizer: Tokenizer): Answer['seen'] {
  for (let count = tokens.length; ; count--) {
    const text = tokenizer.decode(tokens.subarray(0, count), { skipSpecial: false })
    if (visible.startsWith(text)) return { tokens: count, text: text.length }
  }
}
