import type { Logger } from '../base/log/logger.js'
import { deriveSeed } from '../base/random/derive-seed.js'
import { Pcg64 } from '../base/random/index.js'
import { type Config, EXPLORER_NAME, type InferenceModelConfig } from '../config/index.js'
import type { SamplingArgs } from '../dialect/chat-args.js'
import type { SampleModel } from '../engine/contract.js'
import type { EnvironmentContext } from '../environment/environment.js'
import { AuxiliaryModels } from '../workflow/auxiliary.js'
import { RolloutModel } from '../workflow/rollout-model.js'
import type { ModelLimits } from '../workflow/sampling.js'
import { ScalarReward } from '../workflow/scalar-reward.js'
import type { ModelText } from '../workflow/text.js'
import type { OpenAuxiliary } from './parts.js'
import type { ContextFactory } from './workplace.js'

export interface ContextParts {
  readonly config: Pick<Config, 'explorer'>
  readonly model: readonly SampleModel[]
  readonly text: ModelText
  readonly auxiliary?: readonly OpenAuxiliary[]
  readonly place?: EnvironmentContext['place']
}

/** Seed of everything random in a run. Explorers of other names draw other answers to the same tasks, which have ids of their own. */
export function rolloutSeed({ explorer }: Pick<Config, 'explorer'>): number {
  const { name, rollout_model } = explorer
  return name === EXPLORER_NAME ? rollout_model.seed : deriveSeed(rollout_model.seed, name)
}

/** Makes the contexts of workflows: runner i talks to engine i mod engine_num. */
export function contextFactory(parts: ContextParts, loggerOf: (runner: number) => Logger): ContextFactory {
  const { config, model, text, auxiliary = [], place } = parts
  const { rollout_model: rollout, max_timeout } = config.explorer
  const seed = rolloutSeed(config)
  const deadlineMs = max_timeout * 1000
  const limits = limitsOf(rollout)
  const ownDefaults = samplingOf(rollout)
  return (job, { run, repeat, attempt, runner }, signal) => {
    const { task, batch, taskId } = job
    const { n: _, ...rolloutArgs } = task.rolloutArgs
    const logger = loggerOf(runner)
    const path = [seed, batch, taskId, run, attempt] as const
    const models = auxiliary.map((one, i) => {
      const name = one.config.name ?? `auxiliary_${i}`
      const reward = one.reward && new ScalarReward(one.reward, one.text, signal, deadlineMs)
      if (!one.samplers?.length) return { name, reward }
      const chat = new RolloutModel({
        name,
        sampler: one.samplers[runner % one.samplers.length],
        text: one.text,
        limits: limitsOf(one.config),
        defaults: samplingOf(one.config),
        seedOf: (call) => deriveSeed(...path, name, call),
        signal,
        deadlineMs,
        toolCallParser: one.config.tool_call_parser,
        reasoningParser: one.config.reasoning_parser,
        unknownFields: one.config.unknown_request_fields,
        logger,
      })
      return { name, chat, reward }
    })
    return {
      task,
      model: new RolloutModel({
        name: rollout.name ?? rollout.model_path ?? 'policy',
        sampler: model[runner % model.length],
        text,
        limits: { ...limits, enableThinking: task.format.enable_thinking ?? limits.enableThinking },
        defaults: { ...ownDefaults, ...given(rolloutArgs) },
        n: repeat,
        seedOf: (call) => deriveSeed(...path, call),
        signal,
        deadlineMs,
        history: rollout.enable_history,
        toolCallParser: rollout.tool_call_parser,
        reasoningParser: rollout.reasoning_parser,
        unknownFields: rollout.unknown_request_fields,
        logger,
      }),
      auxiliary: new AuxiliaryModels(models),
      logger,
      place,
      random: new Pcg64(deriveSeed(...path, 'random')),
      signal,
      run,
      repeat,
    }
  }
}

export function limitsOf(model: InferenceModelConfig): ModelLimits {
  return {
    maxModelLen: model.max_model_len ?? Number.MAX_SAFE_INTEGER,
    maxPromptTokens: model.max_prompt_tokens,
    maxResponseTokens: model.max_response_tokens,
    minResponseTokens: model.min_response_tokens,
    truncatePrompts: model.enable_prompt_truncation,
    enableThinking: model.enable_thinking,
  }
}

export function samplingOf(model: InferenceModelConfig): SamplingArgs {
  const { temperature, top_p, top_k, logprobs, repetition_penalty, ignore_eos } = model
  return given({ temperature, top_p, top_k, logprobs, repetition_penalty, ignore_eos })
}

function given(args: SamplingArgs): SamplingArgs {
  return Object.fromEntries(Object.entries(args).filter(([, value]) => value !== null && value !== undefined))
}
