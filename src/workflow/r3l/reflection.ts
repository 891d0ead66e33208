import type { Experience } from '../../experience/index.js'
import type { RolloutModel } from '../rollout-model.js'
import type { ReflectRetryArgs } from './args.js'
import { briefCorrection, briefReflection } from './brief.js'
import { reflectionMessages, selfCorrection } from './prompts.js'
import { readReport, reportSchema, type Unusable } from './report.js'
import type { Rollout } from './rollout.js'
import type { StudyWorld } from './study-world.js'

/** What came of thinking about a rollout. */
export interface Reflection {
  /** What was said; absent where nobody was asked. */
  readonly experience?: Experience
  readonly unusable?: Unusable
  /** Present where there is something to do better. */
  readonly advice?: Advice
}

export interface Advice {
  /** The step from which on it should be done otherwise. */
  readonly pivot: number
  /** Absent: there is nothing to say about it. */
  readonly guidance?: string
}

/** Asks the model what it would do otherwise in a rollout of its own. */
export async function reflect(
  model: RolloutModel,
  { episode }: Rollout,
  world: StudyWorld,
  {
    reflection,
    reflection_prompt,
    reflection_max_tokens: max_tokens,
    reflection_temperature: temperature,
  }: ReflectRetryArgs,
): Promise<Reflection> {
  const guided_json = reflection === 'schema' ? reportSchema(episode.turn.step, episode.won) : undefined
  const args = { max_tokens, temperature, guided_json }
  const isBrief = reflection_prompt === 'brief'
  const messages = isBrief ? briefReflection(episode) : reflectionMessages(episode, world)
  const [experience] = await model.chat(messages, args)
  const { truncateStatus, responseText = '' } = experience
  if (truncateStatus === 'prompt_truncated') return { unusable: 'too_long' }
  const verdict = readReport(responseText, episode.turn.step)
  if ('unusable' in verdict) {
    const isCut = verdict.unusable === 'no_json' && truncateStatus === 'response_truncated'
    return { experience, unusable: isCut ? 'cut' : verdict.unusable }
  }
  // A failure that is called a success has not been understood.
  if (verdict.isPerfect) return episode.won ? { experience } : { experience, unusable: 'outcome' }
  const guidance = (isBrief ? briefCorrection : selfCorrection)(verdict.report)
  return { experience, advice: { pivot: verdict.pivot, guidance } }
}
