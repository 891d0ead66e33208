import { rewardOf } from '../algorithm/index.js'
import { type Experience, responseLength, tid } from '../experience/index.js'
import { statistics } from '../pipeline/operator.js'
import { isEmpty } from './usable.js'

/** What a batch looks like: rewards, advantages, lengths. `maxResponse`: the configured limit, if there is one. */
export function batchMetrics(experiences: readonly Experience[], maxResponse: number | null): Record<string, number> {
  const rows = experiences.filter(({ type }) => type !== 'dpo')
  const responses = rows.map(responseLength)
  const lengths = experiences.map(totalTokens)
  const truncated = rows.filter(isTruncated).length
  // Answers of experts are not sampled; of those that are masked as a whole, only the status is known.
  const sampled = rows.filter(({ info }) => info.is_expert !== true)
  const isCut = (row: Experience, most: number) => longestAnswer(row) >= most || (isEmpty(row) && isTruncated(row))
  const cut = maxResponse === null ? undefined : sampled.filter((row) => isCut(row, maxResponse)).length
  return {
    ...statistics('critic/score', present(rows.map(rewardOf))),
    ...statistics('critic/rewards', present(rows.map((e) => sum(e.tokenLevelReward) ?? e.reward))),
    ...tokenStatistics('critic/advantages', rows, 'advantages'),
    ...tokenStatistics('critic/returns', rows, 'returns'),
    ...tokenStatistics('critic/values', rows, 'values'),
    ...statistics('response_length', responses),
    ...(cut === undefined || sampled.length === 0 ? {} : { 'response_length/clip_ratio': cut / sampled.length }),
    ...statistics(
      'prompt_length',
      experiences.map(({ promptLength }) => promptLength),
    ),
    ...statistics('global_seqlen', lengths),
    'sample/task_count': new Set(experiences.map(({ eid }) => tid(eid))).size,
    'sample/experience_count': experiences.length,
    ...(truncated > 0 ? { 'sample/truncated_count': truncated } : {}),
  }
}

const isTruncated = ({ truncateStatus }: Experience): boolean => truncateStatus === 'response_truncated'

/** Tokens of the longest answer: a conversation has several, and each may be as long as the limit. */
function longestAnswer(experience: Experience): number {
  const { type, actionMask } = experience
  if (type === 'single_turn') return responseLength(experience)
  let [longest, length] = [0, 0]
  for (const learned of actionMask) {
    length = learned ? length + 1 : 0
    longest = Math.max(longest, length)
  }
  return longest
}

/** Tokens that training on it takes through the model. */
export function totalTokens({ tokens, chosen, rejected }: Experience): number {
  return chosen && rejected ? 2 * tokens.length + chosen.length + rejected.length : tokens.length
}

function tokenStatistics(
  name: string,
  experiences: readonly Experience[],
  field: 'advantages' | 'returns' | 'values',
): Record<string, number> {
  let [total, count, max, min] = [0, 0, -Infinity, Infinity]
  for (const experience of experiences) {
    const values = experience[field]
    if (!values) continue
    for (let i = 0; i < values.length; i++) {
      if (experience.actionMask[i] === 0) continue
      total += values[i]
      count++
      max = Math.max(max, values[i])
      min = Math.min(min, values[i])
    }
  }
  return count === 0 ? {} : { [`${name}/mean`]: total / count, [`${name}/max`]: max, [`${name}/min`]: min }
}

const present = (values: readonly (number | undefined)[]) => values.filter((value) => value !== undefined)
const sum = (values?: Float32Array) => values?.reduce((total, value) => total + value, 0)
