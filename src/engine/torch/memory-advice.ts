import { bytes } from '../../base/bytes.js'
import type { PlannedModel } from './memory-model.js'
import {
  type MemoryPlan,
  type Phase,
  type PlanInput,
  type PlannedSampler,
  phasesOf,
  planMemory,
} from './memory-plan.js'

interface Change {
  readonly text: string
  readonly input: PlanInput
}

const TREE = 'trainer.trainer_config'
const PARTS: Readonly<Record<string, string>> = { policy: 'actor_rollout_ref', critic: 'critic' }

/** Which keys make a phase smaller, and by how much: what to say when it does not fit. */
export function adviceFor(plan: MemoryPlan): (phase: Phase) => string {
  return ({ name, bytes: before, share }) => {
    const saves = changes(plan).flatMap(({ text, input }) => {
      const after = phasesOf(planMemory(input)).find((phase) => phase.name === name)?.bytes ?? before
      return after < 0.99 * before ? [{ text, saved: before - after }] : []
    })
    const words = saves.sort((a, b) => b.saved - a.saved).map(({ text, saved }) => `${text} (saves ${bytes(saved)})`)
    if (share < 1) words.push(`a higher explorer.rollout_model.gpu_memory_utilization (now ${share})`)
    if (plan.models.some(({ name, trains }) => name === 'policy' && !trains?.lora)) words.push('model.lora_configs')
    return `set one or more of: ${[...words, 'a smaller model'].join('; ')}`
  }
}

function changes(plan: PlanInput): Change[] {
  const { models, samplers } = plan
  const trained = models.filter(({ trains }) => trains)
  const each = (change: (model: PlannedModel) => PlannedModel): PlanInput => ({ ...plan, models: models.map(change) })
  const found: Change[] = []
  const tokens = Math.max(0, ...trained.map((model) => model.tokens))
  const longest = Math.max(0, ...trained.map((model) => model.longest))
  if (tokens > longest) {
    const half = Math.max(longest, Math.ceil(tokens / 2))
    const input = each((model) => ({ ...model, tokens: Math.min(model.tokens, half) }))
    found.push({ text: `trainer.max_token_len_per_gpu: ${half} instead of ${tokens}`, input })
  }
  if (longest > 1) {
    const half = Math.ceil(longest / 2)
    const shorter = ({ tokens, longest, ...rest }: PlannedModel): PlannedModel => ({
      ...rest,
      longest: Math.min(longest, half),
      // only where a single row is the whole micro-batch does its length decide
      tokens: tokens === longest ? Math.min(tokens, half) : tokens,
    })
    const input = each((model) => (model.trains ? shorter(model) : model))
    const shortened = samplers.map((one) => ({ ...one, maxModelLen: Math.min(one.maxModelLen, half) }))
    found.push({ text: `model.max_model_len: ${half} instead of ${longest}`, input: { ...input, samplers: shortened } })
  }
  for (const model of trained.filter(({ trains }) => !trains?.checkpointing)) {
    const key = `${TREE}.${PARTS[model.name] ?? model.name}.model.enable_gradient_checkpointing`
    const input = each((one) => (one === model ? { ...one, trains: { ...one.trains!, checkpointing: true } } : one))
    found.push({ text: `${key}: true`, input })
  }
  if (trained.some(({ options }) => !options.optimizerOffload)) {
    const input = each((one) => ({ ...one, options: { ...one.options, optimizerOffload: true } }))
    found.push({ text: 'trainer.optimizer_offload: true', input })
  }
  if (models.some(({ name, options }) => name === 'reference' && !options.paramOffload)) {
    const away = (one: PlannedModel) => ({ ...one, options: { ...one.options, paramOffload: true } })
    const input = each((one) => (one.name === 'reference' ? away(one) : one))
    found.push({ text: `${TREE}.actor_rollout_ref.ref.fsdp_config.param_offload: true`, input })
  }
  if (models.length === 0) found.push(...samplers.flatMap((one) => splitFurther(one, plan)))
  return found
}

/** A sampler that has GPUs of its own may have more of them. */
function splitFurther(sampler: PlannedSampler, plan: PlanInput): Change[] {
  const { name, config, parts = 1 } = sampler
  const twice = 2 * parts
  const divides = [config.heads, config.kvHeads, config.intermediateSize].every((count) => count % twice === 0)
  if (name !== 'sampler' || !divides) return []
  const input = { ...plan, samplers: plan.samplers.map((one) => (one === sampler ? { ...one, parts: twice } : one)) }
  return [{ text: `explorer.rollout_model.tensor_parallel_size: ${twice}`, input }]
}
