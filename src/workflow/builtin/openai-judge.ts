import { z } from 'zod'
import { messageOf, TrinityError } from '../../base/error.js'
import { rememberSecret, rememberUrl } from '../../base/secret/index.js'
import { HttpError, http } from '../../monitor/remote/http.js'

/** A judge may think for long. */
const TIMEOUT_MS = 120_000

/** The address and the key stand in variables, so that no configuration holds them. */
export const openaiJudgeArgs = z.strictObject({
  judge_model_name: z.string().min(1).describe('Name of the model that judges.'),
  /** Variable with the address, such as `https://host/v1`. */
  judge_api_base_url_env: z.string().min(1).default('OPENAI_BASE_URL'),
  /** Variable with the key; services that check none take any text. */
  judge_api_key_env: z.string().min(1).default('OPENAI_API_KEY'),
})

/** A model of an OpenAI-compatible service, asked one question at a time. */
export class OpenaiJudge {
  readonly #model: string
  readonly #url: string
  readonly #key: string

  constructor({ judge_model_name, judge_api_base_url_env, judge_api_key_env }: z.output<typeof openaiJudgeArgs>) {
    this.#model = judge_model_name
    this.#key = variable('judge_api_key_env', judge_api_key_env)
    rememberSecret(this.#key)
    const base = variable('judge_api_base_url_env', judge_api_base_url_env)
    rememberUrl(base)
    if (!/^https?:\/\//.test(base) || !URL.canParse(base)) {
      throw new TrinityError('workflow/args', `the variable ${judge_api_base_url_env} holds no http address`, {
        path: 'workflow_args.judge_api_base_url_env',
        hint: 'set it to an address such as http://localhost:8000/v1',
      })
    }
    this.#url = `${base.replace(/\/+$/, '')}/chat/completions`
  }

  /** What fails for a moment is thrown as a reward that failed, which is asked for again; the rest ends the run. */
  async ask(question: string, signal: AbortSignal): Promise<string> {
    const body = { model: this.#model, messages: [{ role: 'user', content: question }], stream: false }
    let answer: unknown
    try {
      const headers = { authorization: `Bearer ${this.#key}` }
      answer = await http(this.#url, { headers, body, signal, timeoutMs: TIMEOUT_MS })
    } catch (cause) {
      if (cause instanceof HttpError && !cause.isPassing) throw refused(cause, this.#model)
      throw new TrinityError('reward/failed', `the judge '${this.#model}' did not answer: ${messageOf(cause)}`, {
        cause,
      })
    }
    const text = (answer as { choices?: { message?: { content?: unknown } }[] } | undefined)?.choices?.[0]?.message
      ?.content
    if (typeof text === 'string') return text
    throw new TrinityError('reward/failed', `the judge '${this.#model}' answered without a message`)
  }
}

function variable(arg: string, name: string): string {
  const value = process.env[name]
  if (value !== undefined && value !== '') return value
  throw new TrinityError('workflow/args', `the variable ${name} is not set`, {
    path: `workflow_args.${arg}`,
    hint: `set ${name}, or name another variable with ${arg}`,
  })
}

function refused(cause: HttpError, model: string): TrinityError {
  return new TrinityError('workflow/judge', `the judge '${model}' refuses: ${messageOf(cause)}`, {
    path: 'workflow_args.judge_model_name',
    hint: cause.isForbidden ? 'look at the key' : 'look at the name of the model and at the address',
    cause,
  })
}
