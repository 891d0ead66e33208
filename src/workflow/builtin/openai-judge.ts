import { z } from 'zod'
import { messageOf, TrinityError } from '../../base/error.js'
import { HttpError } from '../../base/http/index.js'
import { answerOf } from '../../engine/openai/answer.js'
import { ChatEndpoint, type EndpointOptions } from '../../engine/openai/endpoint.js'
import { placeIn } from '../../engine/openai/place.js'

/** A judge may think for long. */
const DEADLINE_MS = 120_000
/** Of each judge, for all rollouts. */
const LIMITS = { maxInFlight: 64, retries: 3 }

/** The address and the key stand in variables, so that no configuration holds them. */
export const openaiJudgeArgs = z.strictObject({
  judge_model_name: z.string().min(1).describe('Name of the model that judges.'),
  judge_api_base_url_env: z
    .string()
    .min(1)
    .default('OPENAI_BASE_URL')
    .describe('Variable with the address, such as `https://host/v1`.'),
  judge_api_key_env: z
    .string()
    .min(1)
    .default('OPENAI_API_KEY')
    .describe('Variable with the key; services that check none take any text.'),
})

const KEYS = { baseUrl: 'workflow_args.judge_api_base_url_env', apiKey: 'workflow_args.judge_api_key_env' }

/** A model of an OpenAI-compatible service, asked one question at a time. */
export class OpenaiJudge {
  readonly #endpoint: ChatEndpoint

  constructor({ judge_model_name: model, ...variables }: z.output<typeof openaiJudgeArgs>) {
    const { judge_api_base_url_env: baseUrl, judge_api_key_env: apiKey } = variables
    this.#endpoint = shared({ model, ...placeIn({ baseUrl, apiKey }, KEYS, process.env, 'workflow/args'), ...LIMITS })
  }

  /** What fails for a moment is thrown as a reward that failed, which is asked for again; the rest ends the run. */
  async ask(question: string, signal: AbortSignal): Promise<string> {
    const { model } = this.#endpoint
    const body = { model, messages: [{ role: 'user', content: question }], stream: false }
    try {
      const { choices } = await this.#endpoint.complete(body, { signal, deadlineMs: DEADLINE_MS })
      return answerOf(choices[0]).text
    } catch (cause) {
      if (isFinal(cause)) throw refused(cause, model)
      throw new TrinityError('reward/failed', `the judge '${model}' did not answer: ${messageOf(cause)}`, { cause })
    }
  }
}

/** One for all rollouts: they share its connections and its limit. */
const endpoints = new Map<string, ChatEndpoint>()

function shared(options: EndpointOptions): ChatEndpoint {
  const key = JSON.stringify(options)
  const known = endpoints.get(key) ?? new ChatEndpoint(options)
  endpoints.set(key, known)
  return known
}

/** Refused whenever it is asked, or never there at all. */
function isFinal(cause: unknown): cause is HttpError {
  return cause instanceof HttpError && (cause.isAbsent || (cause.status !== undefined && !cause.isPassing))
}

function refused(cause: HttpError, model: string): TrinityError {
  const what = cause.isAbsent ? 'is not there' : 'refuses'
  return new TrinityError('workflow/judge', `the judge '${model}' ${what}: ${messageOf(cause)}`, {
    path: cause.isAbsent ? KEYS.baseUrl : 'workflow_args.judge_model_name',
    hint: cause.hint,
    cause,
  })
}
