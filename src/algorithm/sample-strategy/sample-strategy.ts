import type { z } from 'zod'
import type { ExperienceBuffer, TakeOptions } from '../../buffer/buffer.js'
import { extremes } from '../../experience/extremes.js'
import type { Experience } from '../../experience/index.js'
import { summarize } from '../advantage/statistics.js'
import type { Entry } from '../entry.js'

/** The part of a buffer that training reads from. */
export type ExperienceSource = Pick<ExperienceBuffer, 'take'>

export interface SampleSources {
  readonly main: ExperienceSource
  /** Experiences of one training step. */
  readonly batchSize: number
  /** Buffers by their name under `trainer_input.auxiliary_buffers`. */
  readonly auxiliary: Readonly<Record<string, ExperienceSource>>
}

export interface Sampled {
  /** Empty when every source has come to its end. */
  readonly experiences: Experience[]
  readonly metrics: Record<string, number>
  /** The worst and the best by reward, or one if none has a reward; for people to look at. */
  readonly examples: Experience[]
}

/** Decides which experiences a training step is made of. Positions are kept by the buffers. */
export interface SampleStrategy extends Entry {
  sample(
    step: number,
    sources: SampleSources,
    args: Record<string, unknown>,
    options?: Omit<TakeOptions, 'minModelVersion'>,
  ): Promise<Sampled>
}

/** What a training step is made of, and what of it came from the policy that is trained, if not all did. */
interface Chosen {
  readonly experiences: Experience[]
  readonly own: readonly Experience[]
}

type Choose<A> = (
  step: number,
  sources: SampleSources,
  args: A,
  options: Omit<TakeOptions, 'minModelVersion'>,
) => Promise<Experience[] | Chosen>

/** Adds what every strategy reports: how long it waited, and how old the policies were. */
export function sampleStrategy<S extends z.ZodObject>(
  strategy: Entry & { args: S; choose: Choose<z.output<S>> },
): SampleStrategy {
  const { doc, args, choose } = strategy
  return {
    doc,
    args,
    async sample(step, sources, given, options = {}) {
      const start = performance.now()
      const chosen = await choose(step, sources, given as z.output<S>, options)
      const { experiences, own } = Array.isArray(chosen) ? { experiences: chosen, own: chosen } : chosen
      const waited = (performance.now() - start) / 1000
      // What the policy did not sample (data from a file) has no version, and no age.
      const drawn = own.filter(({ logprobs, modelVersion }) => logprobs !== undefined || modelVersion > 0)
      const versions = drawn.map(({ modelVersion }) => modelVersion)
      // Step n trains the weights of version n − 1: an experience of that version has no drift.
      const drift = versions.map((version) => step - 1 - version)
      const ages = summarize('sample', { model_version: versions, model_version_drift: drift })
      return { experiences, metrics: { 'time/read_experience': waited, ...ages }, examples: extremes(own) }
    },
  }
}
