import { setTimeout as sleep } from 'node:timers/promises'
import { TrinityError } from '../base/error.js'
import { nextCall } from '../engine/calls.js'
import type { OnToken, Sample, SampleModel, SampleRequest } from '../engine/contract.js'
import type { Tokenizer } from '../model/index.js'

/** A sample with its text. */
export interface Answer {
  readonly sample: Sample
  /** For the reader: special tokens and stop string left out. */
  readonly text: string
  /** What the model wrote, special tokens inside included, the end token left out. */
  readonly raw: string
  /** Every token. */
  readonly recorded: string
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
 * Samples until every answer is whole. What an update of the weights cut off is sampled again; when the caller's own
 * signal fires, the engine stops and this fails with the signal's reason.
 */
export async function sampleAnswers(
  sampler: SampleModel,
  tokenizer: Tokenizer,
  request: SampleRequest,
  { signal, deadlineMs, onToken, keepStop }: Options,
): Promise<Answer[]> {
  for (let cuts = 0; cuts < MOST_CUTS; ) {
    signal?.throwIfAborted()
    let samples: Sample[]
    try {
      samples = await sampler.sample(request, nextCall(signal, deadlineMs), onToken)
    } catch (error) {
      if (!(error instanceof TrinityError) || error.code !== 'engine/busy') throw error
      await sleep(BUSY_MS, undefined, { signal })
      continue
    }
    if (samples.every(({ finish }) => finish !== 'abort')) {
      return samples.map((sample) => answerOf(sample, tokenizer, keepStop))
    }
    signal?.throwIfAborted()
    cuts++
  }
  throw new TrinityError('engine/aborted', `the engine cut the request off ${MOST_CUTS} times`, {
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
  let text = inner.some((token) => tokenizer.isSpecial(token)) ? tokenizer.decode(tokens) : raw
  if (typeof stoppedBy === 'string' && !keepStop) {
    const at = text.lastIndexOf(stoppedBy)
    if (at >= 0) text = text.slice(0, at)
  }
  return { sample, text, raw, recorded }
}
