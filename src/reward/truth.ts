import { TrinityError } from '../base/error.js'
import { extractAnswer } from './extract.js'
import type { RewardInput } from './reward.js'

/** The truth as text: of a GSM8K solution what follows ####, of a boxed one what is in the box. */
export function truthText(input: RewardInput): string {
  const { truth } = input
  if (typeof truth === 'number' || typeof truth === 'bigint' || typeof truth === 'boolean') return String(truth)
  if (typeof truth !== 'string') {
    const what = truth === undefined || truth === null ? 'no truth' : `a truth that is an ${typeof truth}`
    throw new TrinityError(
      'reward/no-truth',
      `the task has ${what}; this reward function compares with a text or a number`,
      {
        hint: 'set buffer.explorer_input.tasksets[].format.response_key to the column that holds the right answer',
      },
    )
  }
  if (truth.includes('####')) return extractAnswer(truth, 'gsm8k') ?? ''
  return extractAnswer(truth, 'boxed') ?? truth.trim()
}
