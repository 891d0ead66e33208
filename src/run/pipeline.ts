import { advantageFns, sampleStrategies } from '../algorithm/index.js'
import { STEP_SIZE, wholeStep } from '../algorithm/sample-strategy/whole-step.js'
import { Pcg64 } from '../base/random/index.js'
import { type ExperienceBuffer, openKeeper } from '../buffer/index.js'
import type { Config } from '../config/index.js'
import type { OpenAuxiliary } from '../explorer/index.js'
import { type AdvantageStep, ExperiencePipeline } from '../pipeline/index.js'
import { deriveSeed } from '../workflow/index.js'
import { jobName } from './job-name.js'
import { claimFile } from './outside.js'

/** Table of the raw experiences, as tools that read them know it. */
export const PIPELINE_INPUT = 'pipeline_input'

/** What stands between the explorer and the buffer. */
export async function openPipeline(
  config: Config,
  output: ExperienceBuffer,
  auxiliary: readonly OpenAuxiliary[],
): Promise<ExperiencePipeline> {
  const { experience_pipeline: given } = config.data_processor
  const path = given.save_input ? given.input_save_path : null
  if (path) await claimFile(config, path)
  const input = path ? await openKeeper(path, PIPELINE_INPUT, { job: jobName(config) }) : undefined
  const models = Object.fromEntries(auxiliary.map((one, i) => [one.config.name ?? `auxiliary_${i}`, one]))
  try {
    return await ExperiencePipeline.open({
      operators: given.operators,
      input,
      advantage: advantageStep(config),
      output,
      context: { service: config.service, models },
      sizeKey: takesWholeSteps(config) ? STEP_SIZE : undefined,
    })
  } catch (error) {
    await input?.close()
    throw error
  }
}

/** Does a training step take all that a step of the explorer gave? */
export function takesWholeSteps({ algorithm }: Config): boolean {
  return algorithm.sample_strategy !== null && sampleStrategies.get(algorithm.sample_strategy) === wholeStep
}

/** The advantage function, where it belongs to the explorer. Its random numbers follow from the batch alone. */
export function advantageStep({ algorithm, explorer }: Config): AdvantageStep | undefined {
  if (algorithm.advantage_fn === null) return undefined
  const fn = advantageFns.get(algorithm.advantage_fn)
  if (fn.where !== 'explorer') return undefined
  const args = advantageFns.parse(algorithm.advantage_fn, algorithm.advantage_fn_args, 'algorithm.advantage_fn_args')
  return (experiences) => {
    const batch = experiences[0]?.eid.batch ?? 0
    const random = new Pcg64(deriveSeed(explorer.rollout_model.seed, 'advantage', batch))
    return fn.compute(experiences, args, { random: () => random.random() })
  }
}
