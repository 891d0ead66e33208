import { type Sampled, type SampleStrategy, sampleStrategies } from '../algorithm/index.js'
import { TrinityError } from '../base/error.js'
import type { Logger } from '../base/log/logger.js'
import type { ExperienceBuffer } from '../buffer/index.js'
import type { SavedCheckpoint } from '../checkpoint/index.js'
import { nextCall } from '../engine/calls.js'
import { addTrainingStep, NO_TRAINING, type TrainerCounts } from '../monitor/run-counts.js'
import { spanned } from '../monitor/span/span.js'
import type { TrainerEnd, TrainerParts, TrainerState } from './parts.js'
import { Preview } from './preview.js'
import { TrainStep } from './step.js'
import { Stopwatch } from './stopwatch.js'

/**
 * The training loop: take experiences, train, hand the weights over, save. In this order, so that nothing moves while a
 * checkpoint is written.
 */
export class Trainer {
  readonly #parts: TrainerParts
  readonly #log: Logger
  readonly #train: TrainStep
  readonly #strategy: SampleStrategy
  readonly #strategyArgs: Record<string, unknown>
  readonly #preview?: Preview
  #step = 0
  #counts: TrainerCounts = NO_TRAINING
  /** Whether the counts include every step of the job: checkpoints of earlier releases have none. */
  #countsAll = true
  /** Last note of a training step; explains a run without one update. */
  #unused = ''

  constructor(parts: TrainerParts) {
    const { config, policy, reference, critic, monitor } = parts
    this.#parts = parts
    this.#log = parts.logs.logger(config.trainer.name)
    const totalSteps = config.trainer.total_steps ?? parts.expectedSteps
    this.#train = new TrainStep({ policy, reference, critic }, { config, totalSteps, note: (text) => this.#hear(text) })
    const { sample_strategy, sample_strategy_args } = config.algorithm
    const strategy = sample_strategy ?? 'default'
    this.#strategy = sampleStrategies.get(strategy)
    this.#strategyArgs = sampleStrategies.parse(strategy, sample_strategy_args, 'algorithm.sample_strategy_args')
    if (config.trainer.enable_preview) this.#preview = new Preview(monitor)
    if (config.trainer.save_hf_checkpoint === 'never') {
      this.#tell(
        'trainer.save_hf_checkpoint: never has no effect: the Hugging Face folder holds the weights to resume from',
      )
    }
  }

  /** Training steps that are done. */
  get step(): number {
    return this.#step
  }

  get counts(): TrainerCounts {
    return this.#counts
  }

  /** The trainer's own part of a checkpoint. */
  async state(): Promise<TrainerState> {
    const auxiliary: Record<string, TrainerState['auxiliary'][string]> = {}
    for (const [name, buffer] of Object.entries(this.#parts.auxiliaryBuffers ?? {}))
      auxiliary[name] = await buffer.cut()
    const controllers = Object.entries(this.#train.controllers).map(([name, one]) => [name, one.state()] as const)
    const own = { step: this.#step, controllers: Object.fromEntries(controllers), counts: this.#counts }
    return { version: 1, ...own, auxiliary }
  }

  /** Goes on from a checkpoint: weights, optimizer, coefficients, positions in the auxiliary buffers. */
  async resume(saved: SavedCheckpoint, signal?: AbortSignal): Promise<void> {
    const { policy, critic, auxiliaryBuffers = {} } = this.#parts
    const state = saved.state.trainer as TrainerState | undefined
    if (state?.version !== 1) throw unusable(saved, 'has no state of a trainer')
    const [actorDir, criticDir] = [saved.folder('actor'), saved.folder('critic')]
    if (!actorDir) throw unusable(saved, 'has no weights of the policy')
    if (critic && !criticDir) throw unusable(saved, 'has no critic')
    await policy.load(actorDir, nextCall(signal))
    if (critic && criticDir) await critic.load(criticDir, nextCall(signal))
    for (const [name, buffer] of Object.entries(auxiliaryBuffers)) await buffer.restore(state.auxiliary[name])
    for (const [name, controller] of Object.entries(this.#train.controllers)) {
      if (state.controllers[name]) controller.restore(state.controllers[name])
    }
    this.#step = state.step
    this.#counts = state.counts ?? NO_TRAINING
    this.#countsAll = state.counts !== undefined
  }

  /**
   * Trains until the steps or the data are at their end, or until `stop` asks for it: then the step under way is
   * finished. In all three cases the last state is saved. `signal` stops at once and saves nothing.
   */
  async run(signal: AbortSignal, stop: AbortSignal = new AbortController().signal): Promise<TrainerEnd> {
    const { config, view } = this.#parts
    const total = config.trainer.total_steps ?? Infinity
    const begin = this.#step
    if (begin >= total) {
      this.#tell(`nothing to train: step ${begin} of trainer.total_steps ${total} was already reached`)
    }
    const end = await this.#loop(total, signal, stop)
    if (end !== 'stopped') this.#checkTrained()
    if (this.#step > 0) await this.#keep(signal)
    if (end === 'end_of_data' && this.#step === begin) {
      this.#tell(`nothing was trained: buffer '${this.#parts.buffer.name}' ended before step ${begin + 1}`)
    }
    view.phase('trainer', 'done')
    this.#log.info(`ended after step ${this.#step}: ${end.replaceAll('_', ' ')}`)
    return end
  }

  async #loop(total: number, signal: AbortSignal, stop: AbortSignal): Promise<TrainerEnd> {
    while (this.#step < total) {
      if (stop.aborted) return 'stopped'
      const watch = new Stopwatch()
      const next = this.#step + 1
      const sampled = await spanned(this.#parts.spans, ['wait', 'waits for experiences', next], () =>
        this.#take(next, signal, stop),
      )
      if (sampled === 'stopped') return 'stopped'
      if (sampled.experiences.length === 0) return 'end_of_data'
      await this.#one(sampled, watch, signal)
    }
    return 'total_steps'
  }

  /** Waits for experiences; meanwhile the synchronizer may move weights, and is done with it when this returns. */
  async #take(step: number, signal: AbortSignal, stop: AbortSignal): Promise<Sampled | 'stopped'> {
    const { buffer, auxiliaryBuffers = {}, config, sync, view } = this.#parts
    signal.throwIfAborted()
    view.phase('trainer', `step ${step}: waiting for experiences`)
    const arrived = new AbortController()
    const failed = new AbortController()
    const moving = (sync?.whileWaiting(AbortSignal.any([arrived.signal, signal, stop])) ?? Promise.resolve()).catch(
      (error: unknown) => failed.abort(error),
    )
    const through = this.#parts.horizon?.(step)
    const main: Pick<ExperienceBuffer, 'take'> = {
      take: (count, options) => buffer.take(count, { ...options, step, through }),
    }
    const sources = { main, auxiliary: auxiliaryBuffers, batchSize: config.buffer.train_batch_size }
    try {
      return await this.#strategy.sample(step, sources, this.#strategyArgs, {
        signal: AbortSignal.any([signal, stop, failed.signal]),
        who: 'trainer',
        step,
      })
    } catch (error) {
      signal.throwIfAborted()
      failed.signal.throwIfAborted()
      if (stop.aborted) return 'stopped'
      throw error
    } finally {
      arrived.abort()
      await moving
      failed.signal.throwIfAborted()
    }
  }

  async #one(sampled: Sampled, watch: Stopwatch, signal: AbortSignal): Promise<void> {
    const { config, view, monitor, sync, spans } = this.#parts
    const step = this.#step + 1
    view.phase('trainer', `step ${step}: training`)
    const result = await spanned(spans, ['work', 'trains', step], () =>
      this.#train.run(sampled.experiences, step, signal),
    )
    const { metrics } = result
    this.#counts = addTrainingStep(this.#counts, result)
    this.#step = step
    this.#checkRefused()
    view.phase('trainer', `step ${step}: weights to the explorer`)
    if (sync) {
      const handOver = () => watch.time('sync_weight', () => sync.afterStep(step, signal))
      await spanned(spans, ['sync', 'hands over weights', step], handOver)
    }
    const measured = { ...sampled.metrics, ...metrics, ...watch.metrics() }
    const numbers = { ...measured, ...times(measured, watch.total()) }
    // Before the checkpoint: whatever a checkpoint claims as done has been reported.
    monitor.log(numbers, step)
    view.metrics('trainer', step, numbers)
    view.examples?.('trainer', step, sampled.examples)
    this.#log.info(`step ${step}: ${summary(numbers)}`)
    this.#log.debug(`step ${step}: ${JSON.stringify(numbers)}`)
    this.#preview?.add(step, sampled.examples)
    const { save_interval: every } = config.trainer
    const due = every > 0 && step % every === 0
    if (due || step % config.synchronizer.sync_interval === 0) this.#preview?.flush(step)
    if (due) await this.#keep(signal)
  }

  /** Throws if as many updates in a row were refused as `trainer.max_refused_updates` allows. */
  #checkRefused(): void {
    const { max_refused_updates: most } = this.#parts.config.trainer
    const [model, count] = Object.entries(this.#counts.refusedInRow).find(([, one]) => one >= most) ?? []
    if (most === 0 || count === undefined) return
    const text =
      `the last ${count} updates of the ${model} had a loss or a gradient that is not finite ` +
      `(trainer.max_refused_updates: ${most})`
    throw this.#isUntrained() ? notFinite('trainer/no-update', text) : notFinite('trainer/not-finite', text, this.#step)
  }

  #isUntrained(): boolean {
    return this.#step > 0 && this.#countsAll && this.#counts.applied === 0
  }

  /** Throws if no update was applied in any step of the job. */
  #checkTrained(): void {
    if (!this.#isUntrained()) return
    const { refused, trained } = this.#counts
    if (refused > 0) {
      const count = `none of the ${refused} updates in ${this.#step} steps was applied`
      throw notFinite('trainer/no-update', `${count}: each had a loss or a gradient that is not finite`)
    }
    if (trained === 0) throw this.#nothing()
  }

  #keep(signal: AbortSignal): Promise<void> {
    return spanned(this.#parts.spans, ['save', 'saves a checkpoint', this.#step], () => this.#save(signal))
  }

  async #save(signal: AbortSignal): Promise<void> {
    const { policy, critic, checkpoints, snapshot, config, view, monitor } = this.#parts
    const step = this.#step
    const watch = new Stopwatch()
    this.#preview?.flush(step)
    view.phase('trainer', `step ${step}: saving`)
    const rest = (await snapshot?.(step)) ?? { state: {} }
    const trainer = await this.state()
    const saved = await checkpoints.save(step, {
      folders: {
        actor: (dir) => policy.save(dir, nextCall(signal)),
        ...(critic ? { critic: (dir: string) => critic.save(dir, nextCall(signal)) } : {}),
        ...rest.folders,
      },
      state: { ...rest.state, trainer },
      meta: {
        ...rest.meta,
        [config.trainer.name]: { latest_iteration: step, sample_strategy_state: trainer.auxiliary },
      },
    })
    if (saved) monitor.log({ 'time/save_checkpoint': watch.total() }, step)
  }

  /** Logs a note of a training step. */
  #hear(text: string): void {
    this.#unused = text
    this.#tell(text)
  }

  #nothing(): TrinityError {
    return new TrinityError('trainer/nothing-usable', `nothing was trained in ${this.#step} steps: ${this.#unused}`, {
      path: 'buffer.explorer_input',
      hint: 'a sequence needs a reward, a token of the model, and no more tokens than model.max_model_len',
    })
  }

  #tell(text: string): void {
    this.#log.warn(text)
    this.#parts.view.note(text)
  }
}

/** Parts of a step that are measured by themselves. */
const PARTS = [
  'read_experience',
  'old_log_prob',
  'ref',
  'values',
  'adv',
  'update_critic',
  'update_actor',
  'sync_weight',
]

/** The whole step, and what of it no part accounts for. */
function times(metrics: Readonly<Record<string, number>>, total: number): Record<string, number> {
  const known = PARTS.reduce((sum, part) => sum + (metrics[`time/${part}`] ?? 0), 0)
  return { 'time/step': total, 'time/other': Math.max(0, total - known) }
}

function summary(metrics: Readonly<Record<string, number>>): string {
  const shown = ['actor/loss', 'critic/score/mean', 'actor/grad_norm', 'actor/lr', 'mismatch/kl', 'time/step']
  const parts = shown.filter((name) => name in metrics).map((name) => `${name} ${metrics[name].toPrecision(4)}`)
  return parts.join(', ')
}

function notFinite(code: string, message: string, step?: number): TrinityError {
  return new TrinityError(code, message, {
    path: step === undefined ? 'algorithm.optimizer.lr' : `step ${step}`,
    hint: 'lower algorithm.optimizer.lr, set trainer.grad_clip, look for infinite rewards or log-probs, and start over with --fresh',
  })
}

function unusable({ dir }: SavedCheckpoint, what: string): TrinityError {
  return new TrinityError('trainer/bad-checkpoint', `checkpoint ${dir} ${what}`, {
    path: dir,
    hint: 'was it made with a different algorithm? give this run another name, or start over with --fresh',
  })
}
