import type { RolloutRow } from '../../src/studio/api.js'

type Source = NonNullable<RolloutRow['source']>

/** What was tried, in words: the same in every step where the experience knows it. */
export const taskWords = ({ source, task }: RolloutRow) =>
  source === undefined ? `${task} of its step` : `row ${source.index} of task set ${source.taskset}`

/** In an address. */
export const sourceKey = ({ taskset, index }: Source) => `${taskset}:${index}`

/** A prompt without `<|user|>` and the like, which say little where there is little room. */
export const withoutFrames = (text: string) => text.replace(/<\|[^|\s]*\|>/g, ' ').trim()
