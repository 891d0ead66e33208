import { messageOf, TrinityError } from '../base/error.js'
import type { ExperienceBuffer, PutOptions } from '../buffer/buffer.js'
import type { Keeper } from '../buffer/queue/keeper.js'
import type { Given, OperatorConfig } from '../config/index.js'
import type { Experience } from '../experience/experience.js'
import type { Operator, OperatorContext, OperatorResult, SelectorFeedback } from './operator.js'
import { operators } from './registry.js'

/** The advantage function of the algorithm, bound to its arguments. */
export type AdvantageStep = (experiences: readonly Experience[]) => OperatorResult | Promise<OperatorResult>

export interface PipelineOptions {
  operators: readonly (Given<OperatorConfig> & Pick<OperatorConfig, 'name'>)[]
  /** Keeps the raw experiences, before any operator. */
  input?: Keeper
  /** Runs after the operators; absent when the trainer computes advantages. */
  advantage?: AdvantageStep
  output: ExperienceBuffer
  context?: OperatorContext
  /** Key of `info` under which an experience says how many are put together with it. */
  sizeKey?: string
}

/** What one operator did to a batch. */
export interface OperatorReport {
  name: string
  in: number
  out: number
  /** By reason. */
  dropped: Record<string, number>
  ms: number
}

export interface PipelineReport {
  steps: OperatorReport[]
  /** As the monitor gets them. */
  metrics: Record<string, number>
  feedback: SelectorFeedback
}

interface Step {
  name: string
  process: Operator['process']
  close?: () => Promise<void>
}

/** Name of the advantage function in reports, where operators have their own names. */
export const ADVANTAGE = 'advantage'

const PREFIX = 'experience_pipeline/'
const OPERATORS = 'data_processor.experience_pipeline.operators'

/** What happens to experiences between the explorer and the buffer: keep the raw ones, operators, advantages, put. */
export class ExperiencePipeline {
  readonly #options: PipelineOptions
  readonly #steps: Step[]

  private constructor(options: PipelineOptions, steps: Step[]) {
    this.#options = options
    this.#steps = steps
  }

  static async open(options: PipelineOptions): Promise<ExperiencePipeline> {
    const steps: Step[] = []
    try {
      for (const [i, { name, args }] of options.operators.entries()) {
        const entry = operators.get(name)
        const checked = operators.parse(name, args, `${OPERATORS}[${i}].args`)
        const operator = await entry.create(checked as never, options.context ?? {})
        steps.push({
          name,
          process: (list, signal) => operator.process(list, signal),
          close: operator.close?.bind(operator),
        })
      }
    } catch (error) {
      for (const step of steps) await step.close?.()
      throw error
    }
    const { advantage } = options
    if (advantage) steps.push({ name: ADVANTAGE, process: advantage })
    return new ExperiencePipeline(options, steps)
  }

  /**
   * One batch of the explorer. Its mark is stored with what is left of it, even if that is nothing; `markOf` makes the
   * mark when the operators have reported, and where the kept raw experiences end. The report then lacks only the times
   * of writing. Failed runs are kept with the raw ones and go no further.
   */
  async process(
    experiences: readonly Experience[],
    { markOf, ...put }: PutOptions & { markOf?: (report: PipelineReport, inputEnd?: number) => unknown } = {},
  ): Promise<PipelineReport> {
    const begun = performance.now()
    const report: PipelineReport = { steps: [], metrics: {}, feedback: {} }
    const { input, output } = this.#options
    if (input && experiences.length > 0) await input.append(experiences)
    const kept = performance.now() - begun
    let current: readonly Experience[] = experiences.filter(({ failure }) => failure === undefined)
    for (const [i, step] of this.#steps.entries()) current = await this.#apply(step, i, current, report, put.signal)
    const writing = performance.now()
    const { sizeKey } = this.#options
    if (sizeKey) current = current.map((one) => ({ ...one, info: { ...one.info, [sizeKey]: current.length } }))
    report.metrics[`${PREFIX}experience_count`] = current.length
    await output.put(current, markOf ? { ...put, mark: markOf(report, input?.end) } : put)
    const seconds = (from: number) => (performance.now() - from) / 1000
    report.metrics[`${PREFIX}time/write`] = seconds(writing) + kept / 1000
    report.metrics[`${PREFIX}time/total`] = seconds(begun)
    return report
  }

  async #apply(
    step: Step,
    index: number,
    experiences: readonly Experience[],
    report: PipelineReport,
    signal?: AbortSignal,
  ): Promise<readonly Experience[]> {
    const begun = performance.now()
    let result: OperatorResult
    try {
      result = await step.process(experiences, signal)
    } catch (cause) {
      if (cause instanceof TrinityError) throw cause
      throw new TrinityError('pipeline/operator', `operator ${index} (${step.name}) failed: ${messageOf(cause)}`, {
        path: `${OPERATORS}[${index}]`,
        cause,
      })
    }
    const ms = performance.now() - begun
    const { experiences: out, dropped = {} } = result
    report.steps.push({ name: step.name, in: experiences.length, out: out.length, dropped, ms })
    report.metrics[`${PREFIX}time/operator/${index}_${step.name}`] = ms / 1000
    for (const [name, value] of Object.entries(result.metrics ?? {})) {
      if (Number.isFinite(value)) report.metrics[name.startsWith('time/') ? name : PREFIX + name] = value
    }
    Object.assign(report.feedback, result.feedback)
    return out
  }

  /** Where the kept raw experiences end, for a checkpoint. */
  async cut(): Promise<{ inputEnd?: number }> {
    const inputEnd = this.#options.input?.end
    await this.#options.input?.flush()
    return { inputEnd }
  }

  /** Removes raw experiences that came after the cut; gives their number. */
  async restore(cut: { inputEnd?: number } | undefined): Promise<number> {
    return (await this.#options.input?.restore(cut?.inputEnd ?? 0, [], [])) ?? 0
  }

  /** Closes operators and the kept input; the buffer belongs to the caller. */
  async close(): Promise<void> {
    for (const step of this.#steps) await step.close?.()
    await this.#options.input?.close()
  }
}
