/**
 * Why a call did not go on from what was recorded, and began a sequence of its own:
 * - `beginning`: it begins with other words: a sub-agent, or a system prompt that is never the same twice;
 * - `answer`: what the model said came back changed, by the agent or by the chat template;
 * - `branch`: it goes on otherwise than before: the past was edited or summarized, or several ways are tried;
 * - `again`: the same was asked again;
 * - `temperature`: all is the same but the temperature.
 */
export const DIVERGENCES = ['beginning', 'answer', 'branch', 'again', 'temperature'] as const
export type Divergence = (typeof DIVERGENCES)[number]
export type DivergenceCounts = Readonly<Record<Divergence, number>>

/** A text that was recorded, with the stretches that the model wrote. */
export interface Recorded {
  readonly text: string
  readonly temperature: number
  readonly written: readonly { readonly textStart: number; readonly textEnd: number }[]
}

/** Judged by where a text leaves the recorded one that it shares most with. */
export function divergenceOf(text: string, temperature: number, recorded: readonly Recorded[]): Divergence {
  let nearest = recorded[0]
  let shared = sharedLength(text, nearest.text)
  for (const one of recorded) {
    // Most share less than the best so far, which is seen at once.
    if (shared < text.length && one.text.startsWith(text.slice(0, shared + 1))) {
      nearest = one
      shared = sharedLength(text, one.text)
    }
  }
  const { written } = nearest
  if (nearest.temperature !== temperature && shared >= written[written.length - 1].textEnd) return 'temperature'
  if (shared === text.length) return 'again'
  if (shared < written[0].textStart) return 'beginning'
  return written.some(({ textStart, textEnd }) => shared >= textStart && shared < textEnd) ? 'answer' : 'branch'
}

/** How far two texts are the same. */
function sharedLength(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  let at = 0
  while (at < length && a.charCodeAt(at) === b.charCodeAt(at)) at++
  return at
}

export function noDivergences(): Record<Divergence, number> {
  return Object.fromEntries(DIVERGENCES.map((reason) => [reason, 0])) as Record<Divergence, number>
}
