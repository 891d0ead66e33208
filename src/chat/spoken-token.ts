import { padTo, widthOf } from '../base/terminal/width.js'
import type { Sample } from '../engine/contract.js'
import type { Tokenizer } from '../model/index.js'

/** A token of a reply, and what might have stood in its place. */
export interface SpokenToken {
  readonly text: string
  readonly probability: number
  readonly others: readonly { readonly text: string; readonly probability: number }[]
}

/** With so many others, the likeliest first. */
export function spokenTokens(
  tokenizer: Tokenizer,
  { tokens, logprobs, topLogprobs }: Sample,
  alternatives: number,
): SpokenToken[] {
  const textOf = (token: number) => tokenizer.decode([token], { skipSpecial: false })
  return Array.from(tokens, (token, i) => {
    const top = topLogprobs?.[i]
    const others = Array.from(top?.tokens ?? [], (other, j) => ({ other, logprob: top!.logprobs[j] }))
      .filter(({ other }) => other !== token)
      .slice(0, alternatives)
      .map(({ other, logprob }) => ({ text: textOf(other), probability: Math.exp(logprob) }))
    return { text: textOf(token), probability: Math.exp(logprobs[i]), others }
  })
}

/** One line for each token. */
export function probabilityTable(tokens: readonly SpokenToken[]): string {
  const shown = (text: string) => JSON.stringify(text)
  const width = Math.max(...tokens.map(({ text }) => widthOf(shown(text))))
  const lines = tokens.map(({ text, probability, others }) => {
    const rest = others.map((one) => `${shown(one.text)} ${one.probability.toFixed(3)}`)
    return [`  ${probability.toFixed(3)}  ${padTo(shown(text), width)}`, ...rest].join('   ').trimEnd()
  })
  return lines.join('\n')
}
