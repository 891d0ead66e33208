import { z } from 'zod'
import { TrinityError } from '../../base/error.js'
import type { Experience } from '../../experience/index.js'
import { fraction } from '../entry.js'
import { sampleStrategy } from './sample-strategy.js'

/**
 * ⌈expert_data_ratio·batch⌉ experiences of an auxiliary buffer of expert data, the rest of the main buffer. Expert rows
 * have reward 0, advantages 0 and log-probs 0 (no policy drew them) and are marked by `info.is_expert`.
 */
export const mix = sampleStrategy({
  doc: 'expert data and rollouts in every batch',
  args: z.strictObject({
    expert_data_ratio: fraction.default(0.5).describe('Share of expert data in a batch.'),
    sft_dataset_name: z.string().default('sft_dataset').describe('Auxiliary buffer that holds the expert data.'),
  }),
  async choose(step, { main, auxiliary, batchSize }, { expert_data_ratio, sft_dataset_name }, options) {
    const source = Object.hasOwn(auxiliary, sft_dataset_name) ? auxiliary[sft_dataset_name] : undefined
    if (!source) {
      throw new TrinityError('algorithm/no-expert-data', `there is no auxiliary buffer named '${sft_dataset_name}'`, {
        path: 'algorithm.sample_strategy_args.sft_dataset_name',
        hint: `known: ${Object.keys(auxiliary).join(', ') || 'none'}; see buffer.trainer_input.auxiliary_buffers`,
      })
    }
    const experts = Math.ceil(expert_data_ratio * batchSize)
    // One after the other: when the first has come to its end, nothing is taken from the second in vain.
    const usual = batchSize > experts ? await main.take(batchSize - experts, options) : []
    if (usual.length === 0 && batchSize > experts) return []
    const own = usual.map((e) => mark(e, false, step))
    const expert = experts > 0 ? await source.take(experts, options) : []
    return { experiences: [...own, ...expert.map((e) => expertRow(e, step))], own }
  },
})

function mark(experience: Experience, isExpert: boolean, step: number): Experience {
  return { ...experience, info: { ...experience.info, is_expert: isExpert, step } }
}

function expertRow(experience: Experience, step: number): Experience {
  const zeros = () => new Float32Array(experience.actionMask.length)
  const own = { reward: 0, logprobs: zeros(), advantages: zeros(), returns: zeros() }
  return mark({ ...experience, ...own }, true, step)
}
