/** What the tests of this folder share: configurations, experiences, and a trainer over the mock engine. */
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openBuffer } from '../../src/buffer/index.js'
import { Checkpoints } from '../../src/checkpoint/index.js'
import type { Config } from '../../src/config/index.js'
import { nextCall } from '../../src/engine/calls.js'
import { MockEngine } from '../../src/engine/mock/engine.js'
import type { MockTrainModel } from '../../src/engine/mock/train.js'
import { createExperience, type Experience, type ExperienceInit } from '../../src/experience/index.js'
import type { TrainerParts } from '../../src/trainer/parts.js'
import { withKeys } from '../config-kit.js'

export const VOCAB = 6

/** eps 1 makes an update follow the size of the gradient, not only its sign. */
export function stepConfig(algorithm: string, set: Record<string, unknown> = {}): Config {
  const offline = ['sft', 'dpo', 'cpt'].includes(algorithm)
  return withKeys({
    'algorithm.algorithm_type': algorithm,
    'algorithm.optimizer.lr': 0.1,
    'algorithm.optimizer.weight_decay': 0,
    'trainer.grad_clip': 0,
    'trainer.trainer_config.actor_rollout_ref.actor.optim.override_optimizer_config.eps': 1,
    ...(offline
      ? { mode: 'train', 'buffer.train_batch_size': 4, 'buffer.trainer_input.experience_buffer.path': 'd' }
      : {}),
    ...set,
  })
}

export function engine(): MockEngine {
  return new MockEngine({ vocabSize: VOCAB, maxModelLen: 64 })
}

/** A mock model whose weights are not all alike. */
export async function model(seed: number, made = engine()): Promise<MockTrainModel> {
  const opened = (await made.openTrain({ path: 'mock' }, nextCall())) as MockTrainModel
  const { weights } = opened.bigram
  for (let i = 0; i < weights.length; i++) weights[i] = Math.sin(seed * 12.9898 + i * 78.233) * 1.5
  return opened
}

let made = 0
export function rollout(init: Partial<ExperienceInit> & { tokens: number[] }): Experience {
  made++
  return createExperience({
    eid: { batch: 0, task: 0, run: made, step: 0, suffix: 'aaaaaa' },
    promptLength: 2,
    ...init,
  })
}

/** The sampler's log-probs: what the model says now, plus noise. */
export function withSamplerLogprobs(policy: MockTrainModel, experience: Experience, noise = 0): Experience {
  const { tokens, promptLength: start, actionMask: mask, temperature } = experience
  const row = { id: 'x', tokens, start, mask, temperature, columns: {} }
  const logprobs = policy.score(row, ['logprob']).logprob!.map((x, i) => x + noise * Math.cos(i * 3 + tokens[1]))
  return { ...experience, logprobs }
}

export function tempDir(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'trinity-trainer-'))
}

/** Collects what the trainer reports. */
export class Ears {
  readonly logged: { step: number; metrics: Record<string, number> }[] = []
  readonly notes: string[] = []
  readonly tables: { step: number; rows: readonly Readonly<Record<string, unknown>>[] }[] = []
  readonly monitor = {
    log: (metrics: Readonly<Record<string, number>>, step: number) => void this.logged.push({ step, metrics }),
    table: (_: string, rows: readonly Readonly<Record<string, unknown>>[], step: number) =>
      void this.tables.push({ step, rows }),
  }
  readonly view = { phase: () => {}, metrics: () => {}, note: (text: string) => void this.notes.push(text) }
  readonly logs = { logger: () => ({ debug() {}, info() {}, warn() {}, error() {} }) }

  /** Numbers of a step, without those of the clock. */
  of(step: number): Record<string, number> {
    const all = this.logged.filter((one) => one.step === step).map((one) => one.metrics)
    const entries = Object.entries(Object.assign({}, ...all) as Record<string, number>)
    return Object.fromEntries(entries.filter(([name]) => !/^(time|perf|timing)/.test(name)))
  }
}

export async function parts(
  config: Config,
  models: Pick<TrainerParts, 'policy' | 'reference' | 'critic'>,
  experiences: readonly Experience[],
  given: Partial<TrainerParts> & { ears?: Ears; dir?: string } = {},
): Promise<TrainerParts> {
  const ears = given.ears ?? new Ears()
  const buffer = await openBuffer({ name: 'experience_buffer', storage_type: 'queue', max_read_timeout: 20 })
  if (experiences.length > 0) await buffer.put(experiences)
  await buffer.finish()
  const checkpoints =
    given.checkpoints ?? (await Checkpoints.open({ dir: given.dir ?? (await tempDir()), roles: ['trainer'] }))
  const { monitor, view, logs } = ears
  return { config, ...models, buffer, checkpoints, monitor, view, logs, ...given }
}
