import { z } from 'zod'
import type { Metrics } from '../../monitor/monitor.js'
import type { Rollout } from './rollout.js'
import { StudyWorkflow } from './study.js'
import type { StudyWorld } from './study-world.js'

const LENGTHS = {
  steps: { max_response_length: 512, cache_length: 400 },
  attempts: { max_response_length: 4096, cache_length: 3000 },
} as const

export function dapoArgs({ unit }: Pick<StudyWorld, 'unit'>) {
  const { max_response_length, cache_length } = LENGTHS[unit]
  return {
    enable_overlong_penalty: z.boolean().default(true).describe('Takes points off answers that are too long.'),
    penalty_factor: z.number().min(0).default(1).describe('Points that an answer loses that is too long.'),
    max_response_length: z
      .int()
      .min(1)
      .default(max_response_length)
      .describe('Tokens beyond which the whole penalty falls due.'),
    cache_length: z.int().min(1).default(cache_length).describe('Over so many tokens before it grows from nothing.'),
    overlong_counts: z
      .enum(['reply', 'all'])
      .default('reply')
      .describe('The longest reply, or all that follows the first prompt, observations too, as the original counted.'),
  }
}

const dapoShape = z.object(dapoArgs({ unit: 'steps' }))
type DapoArgs = z.output<typeof dapoShape>

/** 1 for the goal and nothing else, less what is too long (DAPO). An evaluation counts what the world gives. */
export abstract class DapoWorkflow extends StudyWorkflow {
  protected override worth(rollout: Rollout): number {
    if (this.task.isEval) return super.worth(rollout)
    return (rollout.episode.won ? 1 : 0) + this.#penalty(rollout)
  }

  protected override metrics(rollout: Rollout): Metrics {
    return { ...super.metrics(rollout), overlong_penalty: this.#penalty(rollout) }
  }

  #penalty({ answers }: Rollout): number {
    const args = this.study.args as DapoArgs
    if (!args.enable_overlong_penalty || answers.length === 0) return 0
    const [first, last] = [answers[0], answers[answers.length - 1]]
    const length =
      args.overlong_counts === 'reply'
        ? answers.reduce((most, { sample }) => Math.max(most, sample.tokens.length), 0)
        : last.promptTokens + last.sample.tokens.length - first.promptTokens
    return overlong(length, args)
  }
}

/** 0 up to L − C, falling to −f at L, −f beyond. */
export function overlong(
  length: number,
  { penalty_factor: f, max_response_length: most, cache_length: soft }: Omit<DapoArgs, 'overlong_counts'>,
): number {
  if (length < most - soft) return 0
  return length > most ? -f : ((most - soft - length) / soft) * f
}
