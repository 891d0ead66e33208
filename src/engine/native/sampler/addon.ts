import { loadAddon, type NativeAddon, type NativeHandle, type NativePack } from '../addon.js'
import type { Step } from './step.js'

/** Weights as they were at one moment; what the trainer does next does not touch them. */
export interface NativeSnapshot {
  readonly __snapshot: never
}
export interface NativeSampler {
  readonly __sampler: never
}

/** The addon's functions for sampling; see native/src/addon/sample_calls.cpp. */
export interface SamplingAddon extends NativeAddon {
  /** Tokens of a page of the cache. */
  readonly pageTokens: number
  /** Shares the memory of the model's weights: the trainer puts its next version elsewhere. */
  snapshot(model: NativeHandle): Promise<NativeSnapshot>
  /** A model that shares these weights, to read them. */
  openSnapshot(snapshot: NativeSnapshot): NativeHandle
  /** What the sampler samples with. */
  weightsOf(sampler: NativeSampler): NativeSnapshot
  /** Gives the memory back without waiting for the garbage collector. */
  releaseSnapshot(snapshot: NativeSnapshot): void
  checksum(snapshot: NativeSnapshot): Promise<string>
  /** `bfloat16`: weights, and what they are multiplied with, are rounded to it. */
  openSampler(snapshot: NativeSnapshot, pages: number, maxLen: number, bfloat16: boolean): NativeSampler
  closeSampler(sampler: NativeSampler): Promise<void>
  /** Throws when the weights are from another kind of model. */
  checkWeights(sampler: NativeSampler, snapshot: NativeSnapshot): void
  /** For steps started from now on; the weights must fit. */
  setWeights(sampler: NativeSampler, snapshot: NativeSnapshot): void
  sampleStep(sampler: NativeSampler, step: Step): Promise<void>
  sampleScore(sampler: NativeSampler, pack: NativePack): Promise<Float32Array>
  samplerMemory(sampler: NativeSampler): { weights: number; cache: number; activations: number }
}

export const samplingAddon = () => loadAddon() as SamplingAddon
