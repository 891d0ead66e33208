import type { SamplingArgs } from '../../dialect/chat-args.js'
import type { ChatModel } from '../../dialect/chat-model.js'
import type { RolloutModel } from '../rollout-model.js'

/** What decides which of its answers a model gives. */
const CHANCE = ['temperature', 'top_p', 'top_k', 'min_p', 'seed'] as const

/**
 * The model of a rollout as its agent reaches it. Agents ask for temperature 0 or for a seed, and a model that always says
 * the same learns nothing: chance is the run's to decide, what is said and how long is the agent's.
 */
export function sampledByRun(model: RolloutModel): ChatModel & Pick<RolloutModel, 'stats'> {
  const { name, tokenizer, parsers, defaults, unknownFields } = model
  return {
    ...{ name, tokenizer, parsers, defaults, unknownFields },
    answers: (messages, args, onText, signal) => model.answers(messages, freed(args), onText, signal),
    complete: (prompt, args, onText, signal) => model.complete(prompt, freed(args), onText, signal),
    remember: (message, raw) => model.remember(message, raw),
    noted: (notes) => model.noted(notes),
    get stats() {
      return model.stats
    },
  }
}

function freed<T extends SamplingArgs>(args: T | undefined): T | undefined {
  if (!args) return args
  const rest = { ...args }
  for (const key of CHANCE) delete rest[key]
  return rest
}
