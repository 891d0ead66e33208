import { availableParallelism, totalmem } from 'node:os'
import { bytes } from '../../base/bytes.js'
import { TrinityError } from '../../base/error.js'
import type { Config } from '../../config/index.js'
import type { ModelConfig } from '../../model/config.js'
import { estimateMemory } from '../../model/estimate.js'
import type { TrainingNeeds } from '../description.js'

/** What the native engine reaches on one core; enough to tell a minute from a day. */
const FLOPS_PER_CORE = 4e10
/** A training step that may take longer than this is not what anybody wants. */
const LONGEST_STEP_S = 1800

export interface Machine {
  readonly memory: number
  readonly cores: number
}

/** Memory and cores that this process may use. */
export function thisMachine(): Machine {
  const limit = process.constrainedMemory?.() ?? 0
  return { memory: limit > 0 ? Math.min(limit, totalmem()) : totalmem(), cores: availableParallelism() }
}

export interface Demand {
  readonly memory: number
  /** Of one training step when every sequence is as long as it may be. */
  readonly stepSeconds: number
}

/** What training this model with this configuration asks of the native engine. */
export function trainingDemand(model: ModelConfig, config: Config, needs: TrainingNeeds, machine: Machine): Demand {
  const { weights, training, activationsPerToken, trainingFlopsPerToken, parameters } = estimateMemory(model)
  const lora = needs.referenceIsBase
  const length = Math.min(config.model.max_model_len ?? model.maxPositions, model.maxPositions)
  const budget = Math.max(config.trainer.max_token_len_per_gpu ?? 0, length)
  const models = [
    // an adapter's own gradients and moments are small beside the weights
    lora ? weights : training,
    needs.critic ? training : 0,
    needs.reference && !lora ? weights : 0,
    // what the samplers still use while the next weights are being made
    config.mode === 'train' ? 0 : weights,
  ].reduce((sum, size) => sum + size, 0)
  const tokens = config.buffer.train_batch_size * length
  const passes = (needs.critic ? 2 : 1) * trainingFlopsPerToken + (needs.reference ? 2 * parameters : 0)
  return {
    memory: models + budget * activationsPerToken,
    stepSeconds: (tokens * passes) / (machine.cores * FLOPS_PER_CORE),
  }
}

/** Why this machine should not train the model, with the numbers; undefined: it may. */
export function tooLarge(
  model: ModelConfig,
  config: Config,
  needs: TrainingNeeds,
  machine: Machine = thisMachine(),
): TrinityError | undefined {
  const { memory, stepSeconds } = trainingDemand(model, config, needs, machine)
  const parts: string[] = []
  if (memory > machine.memory)
    parts.push(`about ${bytes(memory)} of memory (this machine has ${bytes(machine.memory)})`)
  if (stepSeconds > LONGEST_STEP_S) {
    parts.push(`up to ${duration(stepSeconds)} for one step of ${config.buffer.train_batch_size} experiences`)
  }
  if (parts.length === 0) return undefined
  const count = estimateMemory(model).parameters
  return new TrinityError(
    'config/too-large',
    `a model of ${(count / 1e6).toPrecision(3)} million parameters would take ${parts.join(' and ')} on ${machine.cores} cores`,
    {
      path: 'model.model_path',
      hint:
        'use a smaller model, shorter sequences (model.max_model_len) or a smaller buffer.train_batch_size; ' +
        'to run it anyway, set trainer.trainer_type: native and explorer.rollout_model.engine_type: native',
    },
  )
}

export function duration(seconds: number): string {
  if (seconds < 90) return `${seconds.toPrecision(2)} s`
  if (seconds < 5400) return `${Math.round(seconds / 60)} minutes`
  return seconds < 172_800 ? `${Math.round(seconds / 3600)} hours` : `${Math.round(seconds / 86_400)} days`
}
