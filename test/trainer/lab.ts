/** A small loop of rollouts and training steps on any engine: does an algorithm learn? */
import { advantageFns } from '../../src/algorithm/index.js'
import type { Config } from '../../src/config/index.js'
import { nextCall } from '../../src/engine/calls.js'
import type { Engine, SampleModel, TrainModel } from '../../src/engine/contract.js'
import { createExperience, type Experience } from '../../src/experience/index.js'
import { operators } from '../../src/pipeline/registry.js'
import { directLink } from '../../src/testing/direct-link.js'
import { TrainStep, trainerNeeds } from '../../src/trainer/index.js'

export interface LabOptions {
  engine: Engine
  path: string
  config: Config
  /** Token ids of the digits; an answer is right where each token is the digit after the one before it. */
  digits: readonly number[]
  tasks?: number
  seed: number
  /** Steps of a run that end in one reward. */
  turns?: number
}

export class Lab {
  readonly #options: LabOptions
  readonly #step: TrainStep
  readonly #sampler: SampleModel
  readonly policy: TrainModel
  #done = 0

  private constructor(options: LabOptions, policy: TrainModel, sampler: SampleModel, step: TrainStep) {
    this.#options = options
    this.policy = policy
    this.#sampler = sampler
    this.#step = step
  }

  static async open(options: LabOptions): Promise<Lab> {
    const { engine, path, config, seed } = options
    const needs = trainerNeeds(config)
    const policy = await engine.openTrain({ path, seed }, nextCall())
    const sampler = await engine.openSample({ path, shareWith: policy, seed }, nextCall())
    const reference = needs.reference ? await engine.openScore({ path }, nextCall()) : undefined
    const critic = needs.critic ? await engine.openTrain({ path, head: 'value', seed }, nextCall()) : undefined
    return new Lab(options, policy, sampler, new TrainStep({ policy, reference, critic }, { config }))
  }

  /** Trains on given experiences. */
  async learn(experiences: readonly Experience[]): Promise<Record<string, number>> {
    this.#done++
    const { metrics } = await this.#step.run(experiences, this.#done)
    await directLink(this.#options.engine, this.policy, [this.#sampler]).transfer(this.#done, 'finish', nextCall())
    return metrics
  }

  /** Rollouts, then a training step on them; gives their mean reward. */
  async turn(): Promise<number> {
    const { config } = this.#options
    const rollouts = await this.#rollouts()
    const mean = rollouts.reduce((sum, { reward = 0 }) => sum + reward, 0) / rollouts.length
    await this.learn(await prepare(rollouts, config))
    return mean
  }

  /** Mean reward of the first and of the last few of `steps` turns. */
  async improve(steps: number, few = 4): Promise<{ first: number; last: number }> {
    const rewards: number[] = []
    for (let i = 0; i < steps; i++) rewards.push(await this.turn())
    const mean = (list: number[]) => list.reduce((a, b) => a + b) / list.length
    return { first: mean(rewards.slice(0, few)), last: mean(rewards.slice(-few)) }
  }

  async #rollouts(): Promise<Experience[]> {
    const { tasks = 6, config, turns = 1 } = this.#options
    const made: Experience[] = []
    for (let task = 0; task < tasks; task++) {
      for (let run = 0; run < config.algorithm.repeat_times!; run++) {
        const steps: Experience[] = []
        for (let turn = 0; turn < turns; turn++) steps.push(await this.#sample(task, run, turn))
        // The reward of a run is that of all its steps together, and stands on the last.
        const reward = steps.reduce((sum, one) => sum + one.reward!, 0) / turns
        made.push(...(turns === 1 ? steps : steps.map((one) => ({ ...one, reward }))))
      }
    }
    return made
  }

  async #sample(task: number, run: number, turn: number): Promise<Experience> {
    const { digits, seed, config } = this.#options
    const prompt = Int32Array.of(digits[0], digits[(task + turn) % digits.length])
    const request = (this.#done * 1000 + task * 100 + run) * 10 + turn
    const params = {
      temperature: config.model.temperature,
      maxTokens: 3,
      minTokens: 3,
      ignoreEos: true,
      seed: seed * 1_000_000 + request,
    }
    const [{ tokens, logprobs }] = await this.#sampler.sample({ prompt, n: 1, params }, nextCall(undefined, 20_000))
    const all = [...prompt, ...tokens]
    const right = [...tokens].filter((token, i) => token === digits[(digits.indexOf(all[i + 1]) + 1) % digits.length])
    return createExperience({
      eid: { batch: this.#done, task, run, step: turn, suffix: 'aaaaaa' },
      tokens: all,
      promptLength: prompt.length,
      logprobs,
      reward: right.length / tokens.length,
      modelVersion: this.#done,
      temperature: config.model.temperature,
    })
  }
}

/** What the experience pipeline does: filters, then advantages unless they are the trainer's business. */
async function prepare(rollouts: Experience[], { algorithm, data_processor }: Config): Promise<Experience[]> {
  let current = rollouts
  for (const { name, args } of data_processor.experience_pipeline?.operators ?? []) {
    const entry = operators.get(name)
    const operator = await entry.create(operators.parse(name, args, 'args') as never, {})
    current = (await operator.process(current)).experiences
  }
  const fn = advantageFns.get(algorithm.advantage_fn!)
  if (fn.where === 'trainer') return current
  const args = advantageFns.parse(algorithm.advantage_fn!, algorithm.advantage_fn_args, 'args')
  return fn.compute(current, args, { random: () => 0.5 }).experiences
}
