import { z } from 'zod'
import { open, positive } from '../entry.js'
import { type Bounds, parseBounds } from './bounds.js'
import { CRITERIA, type Criterion, criterionOf, isOlder } from './criterion.js'

const limits = z.union([z.number(), z.string()])

const given = z.strictObject({
  /** The sampler's log-probs stand for the old ones, so there is no difference to correct. */
  bypass_mode: z.boolean().default(false),
  /** Of veRL's bypass mode; the loss is `policy_loss_fn`. */
  loss_type: z.literal('ppo_clip').optional(),
  rollout_is: open(z.enum(['token', 'sequence'])),
  rollout_is_threshold: limits.default(2),
  rollout_is_batch_normalize: z.boolean().default(false),
  rollout_rs: open(z.string()),
  rollout_rs_threshold: open(limits),
  rollout_rs_threshold_lower: open(positive),
  rollout_token_veto_threshold: open(positive),
})

/** `algorithm.rollout_correction`, in the forms of veRL 0.6 to 0.9. */
export const rolloutCorrectionArgs = given
  .refine((args) => !args.bypass_mode || (args.rollout_is === null && args.rollout_rs === null), {
    path: ['bypass_mode'],
    message: 'rollout_is and rollout_rs compare sampler and trainer: they need bypass_mode: false',
  })
  .superRefine((args, context) => {
    limitsOf(args, (key, message) => context.addIssue({ code: 'custom', path: [key], message }))
  })
export type RolloutCorrection = z.output<typeof rolloutCorrectionArgs>

/** The thresholds as numbers. */
export interface Limits {
  /** Weights are cut at the upper limit; with a lower one (IcePop), those outside are 0. */
  readonly cap: Bounds
  readonly criteria: readonly Criterion[]
}

type Wrong = (key: keyof RolloutCorrection, message: string) => void

/** `wrong` is told of what cannot be read; the schema has let none of it pass. */
export function limitsOf(args: RolloutCorrection, wrong: Wrong = () => {}): Limits {
  const cap = parseBounds(args.rollout_is_threshold)
  if (!cap) wrong('rollout_is_threshold', 'expected a positive number or lower_upper such as "0.5_2.0"')
  return { cap: cap ?? { upper: 1 }, criteria: criteriaOf(args, wrong) }
}

function criteriaOf(args: RolloutCorrection, wrong: Wrong): Criterion[] {
  const { rollout_rs, rollout_rs_threshold: threshold, rollout_rs_threshold_lower: lower } = args
  const names = [...new Set(listOf(rollout_rs ?? ''))]
  const all = listOf(threshold ?? args.rollout_is_threshold)
  const unknown = names.find((name) => !CRITERIA.includes(name))
  if (unknown !== undefined) {
    wrong('rollout_rs', `unknown criterion '${unknown}'; known: ${CRITERIA.join(', ')}`)
  } else if (threshold === null && names.some((name) => !isOlder(name))) {
    wrong('rollout_rs_threshold', `${rollout_rs} needs one`)
  } else if (names.length > 0 && all.length !== 1 && all.length !== names.length) {
    wrong('rollout_rs_threshold', `expected 1 or ${names.length} limits, found ${all.length}`)
  } else {
    return names.flatMap((name, i) => {
      const criterion = criterionOf(name, all[all.length === 1 ? 0 : i], lower ?? undefined)
      if (typeof criterion === 'string') wrong('rollout_rs_threshold', criterion)
      return typeof criterion === 'string' ? [] : [criterion]
    })
  }
  return []
}

/** What stands between commas. */
function listOf(text: string | number): string[] {
  return String(text)
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
}
