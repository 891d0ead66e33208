import { z } from 'zod'
import type { StudyWorld } from './study-world.js'

/** Of workflows that reflect and try again. Where the paper and its code differ, the paper's rule is the default. */
export function reflectRetryArgs({ retry }: Pick<StudyWorld, 'retry'>) {
  return {
    reflect_retry: z.boolean().default(true).describe('false: only first attempts, as many as the task is repeated.'),
    reflection: z
      .enum(['report', 'schema', 'random'])
      .default('report')
      .describe(
        '`report`: the model writes one. `schema`: it is held to the form while it writes. `random`: a step at random and no word.',
      ),
    reflection_prompt: z
      .enum(['full', 'brief'])
      .default('full')
      .describe(
        'How a report is asked for; `brief` is for small models: the episode alone, and of the report the advice alone.',
      ),
    reflect_on: z.enum(['failures', 'all']).default('failures').describe('What is reflected on; the code: `all`.'),
    retry_from: z
      .enum(['pivot', 'start'])
      .default(retry)
      .describe('Where a second attempt begins: at the step the reflection names, or at the start.'),
    context: z
      .enum(['distilled', 'guided'])
      .default('distilled')
      .describe('The context in which a retry is learned; the code, step by step: `guided`.'),
    credit: z
      .enum(['prefix', 'inverted', 'none'])
      .default('prefix')
      .describe(
        'Steps that are not learned: the shared ones; those of the first attempt behind them (the code, step by step); none.',
      ),
    imitate: z
      .enum(['better', 'solved', 'never'])
      .default('better')
      .describe(
        'When reflection and retry are imitated: the retry earned more; it reached the goal and is better (the code); never.',
      ),
    reflection_max_tokens: z.int().min(1).default(4096).describe('Longest reflection, in tokens.'),
    reflection_temperature: z.number().min(0).nullable().default(null).describe('Absent: that of the rollouts.'),
  }
}

const shape = z.object(reflectRetryArgs({ retry: 'pivot' }))
export type ReflectRetryArgs = z.output<typeof shape>
