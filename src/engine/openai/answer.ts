import type { Sample } from '../contract.js'
import type { HostedText } from './text.js'
import type { Choice, TokenLogprob } from './wire.js'

/** An answer of the service: its text, how it ended, and log-probs where they were given. */
export interface HostedAnswer {
  readonly text: string
  readonly finish: Sample['finish']
  readonly logprobs?: readonly TokenLogprob[]
}

export function answerOf({ message, finish_reason, logprobs }: Choice): HostedAnswer {
  const { content, refusal, tool_calls } = message
  const said = Array.isArray(content) ? content.map(({ text }) => text ?? '').join('') : content
  const calls = (tool_calls ?? []).map(({ function: called }) => callText(called.name, called.arguments))
  return {
    text: [said || refusal || '', ...calls].filter((part) => part !== '').join('\n'),
    finish: finishOf(finish_reason),
    logprobs: logprobs?.content ?? undefined,
  }
}

export function finishOf(reason: string | null | undefined): Sample['finish'] {
  return reason === 'length' || reason === 'max_tokens' ? 'length' : 'stop'
}

/** As models write calls that are read here: whoever reads the answer finds them again. */
export function callText(name: string, given: unknown): string {
  return `<tool_call>\n${JSON.stringify({ name, arguments: parsed(given) })}\n</tool_call>`
}

function parsed(given: unknown): unknown {
  if (typeof given !== 'string') return given ?? {}
  try {
    return given.trim() === '' ? {} : JSON.parse(given)
  } catch {
    return given
  }
}

/**
 * The answer in tokens, which are the bytes of its text. Log-probs are NaN where the service gives none; where it does,
 * that of a token stands at its first byte and 0 at the others, so that their sum is that of the answer.
 */
export function sampleOf({ text, finish, logprobs }: HostedAnswer, { end, bytesOf }: HostedText): Sample {
  const bytes = bytesOf(text)
  // an answer has at least one token, and one that ended says so
  const ends = finish === 'stop' || bytes.length === 0
  const tokens = ends ? withEnd(bytes, end) : bytes
  return {
    tokens,
    logprobs: spread(tokens.length, text, logprobs),
    finish,
    versions: [{ version: 0, from: 0 }],
    cachedTokens: 0,
  }
}

function withEnd(bytes: Int32Array, end: number): Int32Array {
  const tokens = new Int32Array(bytes.length + 1).fill(end)
  tokens.set(bytes)
  return tokens
}

function spread(length: number, text: string, logprobs: readonly TokenLogprob[] | undefined): Float32Array {
  const pieces = logprobs?.map(({ token, bytes }) => bytes?.length ?? Buffer.byteLength(token)) ?? []
  const all = pieces.reduce((sum, size) => sum + size, 0)
  const result = new Float32Array(length)
  // what does not cover the text cannot be placed
  if (!logprobs || all !== Buffer.byteLength(text)) return result.fill(Number.NaN)
  let at = 0
  for (const [i, { logprob }] of logprobs.entries()) {
    result[at] += logprob
    at += pieces[i]
  }
  return result
}
