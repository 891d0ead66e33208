import { redact, redactValue } from '../../base/secret/index.js'
import { type Experience, TOKEN_FLOATS, type TokenFloat } from '../../experience/experience.js'
import type { ChatMessage, Json, Rollout, RolloutRow, TokenColumns } from '../api.js'
import { numberWord } from '../metrics/series.js'

/** Gives the text of each token. */
export type TextOf = (ids: Int32Array) => readonly string[]

/** Names of the columns of an experience as the page has them. */
const COLUMNS: Readonly<Record<TokenFloat, keyof TokenColumns>> = {
  logprobs: 'logprob',
  drawnLogprobs: 'drawnLogprob',
  tokenLevelReward: 'reward',
  advantages: 'advantage',
  returns: 'return',
  values: 'value',
  refLogprobs: 'refLogprob',
  oldLogprobs: 'oldLogprob',
  teacherLogprobs: 'teacherLogprob',
}

/** One experience in full. */
export function rolloutOf(
  row: RolloutRow,
  store: string,
  experience: Experience,
  textOf: TextOf | undefined,
  missing: readonly string[],
): Rollout {
  const { failure, versions, chosenMessages, rejectedMessages, metrics } = experience
  return {
    ...row,
    store,
    responseLength: experience.tokens.length - experience.promptLength,
    temperature: experience.temperature,
    promptText: shown(experience.promptText),
    responseText: shown(experience.responseText),
    messages: plain(experience.messages) as readonly ChatMessage[] | undefined,
    tools: plain(experience.tools),
    failureMessage: shown(failure?.message),
    info: plain(experience.info) ?? {},
    metrics: Object.fromEntries(Object.entries(metrics).map(([name, value]) => [name, numberWord(value)])),
    tokens: tokensOf(experience, textOf),
    versions: versions?.map(({ from, version }) => ({ from, version })),
    pair: chosenMessages &&
      rejectedMessages && {
        chosen: plain(chosenMessages) as unknown as readonly ChatMessage[],
        rejected: plain(rejectedMessages) as unknown as readonly ChatMessage[],
      },
    missing,
  }
}

function tokensOf(experience: Experience, textOf: TextOf | undefined): TokenColumns {
  const { tokens, promptLength, actionMask, logprobs, oldLogprobs, columns = {} } = experience
  const found: Record<string, unknown> = {}
  for (const name of Object.keys(TOKEN_FLOATS) as TokenFloat[]) {
    const values = experience[name]
    if (values) found[COLUMNS[name]] = numbers(values)
  }
  const more = Object.entries(columns).map(
    ([name, value]) => [name, typeof value === 'number' ? value : numbers(value)] as const,
  )
  const entropy = columns.entropy
  return {
    promptLength,
    id: [...tokens],
    text: textOf?.(tokens),
    mask: [...actionMask].map((one) => (one === 0 ? 0 : 1)),
    ...found,
    ...(entropy instanceof Float32Array ? { entropy: numbers(entropy) } : {}),
    ...(logprobs && oldLogprobs ? { mismatch: numbers(oldLogprobs.map((one, i) => one - logprobs[i])) } : {}),
    ...(more.length > 0 ? { more: Object.fromEntries(more) } : {}),
  }
}

function numbers(values: Float32Array): (number | null)[] {
  return Array.from(values, (one) => (Number.isFinite(one) ? one : null))
}

function shown(text: string | undefined): string | undefined {
  return text === undefined ? undefined : redact(text)
}

/** Whatever stands in an experience, without secrets that we know. */
function plain(value: unknown): Json | undefined {
  if (value === undefined) return undefined
  return JSON.parse(JSON.stringify(value), (_, one: unknown) =>
    typeof one === 'string' ? redactValue(one) : one,
  ) as Json
}
