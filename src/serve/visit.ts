import { randomBytes } from 'node:crypto'
import type { Logger } from '../base/log/logger.js'
import { deriveSeed } from '../base/random/derive-seed.js'
import type { Config } from '../config/index.js'
import { limitsOf, samplingOf } from '../explorer/contexts.js'
import type { SessionParts } from '../gateway/index.js'
import { sampledByRun } from '../workflow/agent/sampled-by-run.js'
import { RolloutModel, type RolloutModelParts } from '../workflow/rollout-model.js'
import type { ModelText } from '../workflow/text.js'
import type { History } from './history.js'

export interface VisitParts {
  readonly config: Config
  readonly sampler: RolloutModelParts['sampler']
  readonly text: ModelText
  readonly history: Pick<History, 'record' | 'withdraw'>
  readonly log: Pick<Logger, 'error'>
}

/** Calls of a session after which what was said is forgotten: a client that stays for ever must not fill the memory. */
const MOST_CALLS = 256

/** What clients call the model. */
export function servedName({ explorer }: Pick<Config, 'explorer'>): string {
  const { name, model_path } = explorer.rollout_model
  return name ?? model_path ?? 'policy'
}

/**
 * Makes what a session answers with. Its calls share what was said, so that a conversation goes on from the tokens that
 * were sampled; each answer is written down before its client has the end of it, and taken back where it never got that.
 */
export function visits({ config, sampler, text, history, log }: VisitParts): () => SessionParts {
  const { rollout_model: rollout } = config.explorer
  // A server that was started again must not say the same things again.
  const boot = randomBytes(8).toString('hex')
  let conversations = 0
  const begin = () => {
    const conversation = conversations++
    const model = new RolloutModel({
      name: servedName(config),
      sampler,
      text,
      limits: limitsOf(rollout),
      defaults: samplingOf(rollout),
      seedOf: (call) => deriveSeed(rollout.seed, boot, conversation, call),
      deadlineMs: config.synchronizer.sync_timeout * 1000,
      toolCallParser: rollout.tool_call_parser,
      reasoningParser: rollout.reasoning_parser,
      unknownFields: rollout.unknown_request_fields,
    })
    model.refuseLong()
    return model
  }
  return () => {
    let model = begin()
    const next = () => {
      if (model.stats.calls >= MOST_CALLS) model = begin()
      return sampledByRun(model)
    }
    return {
      model: {
        ...sampledByRun(model),
        answers: (...asked) => next().answers(...asked),
        complete: (...asked) => next().complete(...asked),
        remember: (message, raw) => model.remember(message, raw),
        get stats() {
          return model.stats
        },
      },
      onAnswers: async (answers, replyId) => {
        const experiences = answers.map(({ experience }) => experience)
        for (const { eid } of experiences) eid.suffix = replyId
        await history.record(experiences)
      },
      onUnanswered: (answers) => {
        model.withdraw(answers)
        const ids = new Set(answers.map(({ experience }) => experience.eid.suffix).filter((id) => id !== ''))
        if (ids.size === 0) return
        history.withdraw([...ids]).catch((error) => log.error('an answer that nobody got stays in the history', error))
      },
    }
  }
}
