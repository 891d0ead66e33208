import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { TrinityError } from '../../base/error.js'
import { HttpError } from '../../base/http/index.js'
import type { Call, Engine, HostedSpec, SampleModel, SampleSpec } from '../contract.js'
import { openaiCaps } from './description.js'
import { ChatEndpoint } from './endpoint.js'
import { placeIn } from './place.js'
import { HostedSampler } from './sampler.js'
import { type HostedText, openHostedText, writeHostedText } from './text.js'

/** How long a service may take to say that it is there. */
const OPEN_MS = 60_000

/** Models of services that speak the OpenAI chat API. They answer, and nothing else. */
export class HostedEngine implements Engine {
  readonly name = 'openai'
  readonly caps = openaiCaps
  readonly textDir: string
  readonly #text: HostedText
  readonly #note: (text: string) => void
  readonly #endpoints: ChatEndpoint[] = []

  private constructor(textDir: string, text: HostedText, note: (text: string) => void) {
    this.textDir = textDir
    this.#text = text
    this.#note = note
  }

  static async open(note: (text: string) => void = () => {}): Promise<HostedEngine> {
    const dir = await mkdtemp(join(tmpdir(), 'trinity-hosted-'))
    await writeHostedText(dir)
    return new HostedEngine(dir, await openHostedText(dir), note)
  }

  async openSample({ path, hosted }: SampleSpec, { signal, deadlineMs }: Call): Promise<SampleModel> {
    if (!hosted) {
      throw new TrinityError('engine/unsupported', `it is not said where the hosted model '${path}' is`, {
        path: 'external_model_config',
        hint: 'give base_url_env and api_key_env',
      })
    }
    const { baseUrlEnv, apiKeyEnv, key, maxInFlight, maxRetries, extra } = hosted
    const place = placeIn(
      { baseUrl: baseUrlEnv, apiKey: apiKeyEnv },
      { baseUrl: `${key}.base_url_env`, apiKey: `${key}.api_key_env` },
    )
    const endpoint = new ChatEndpoint({ ...place, model: path, maxInFlight, retries: maxRetries })
    const known = await endpoint.models({ signal, deadlineMs: Math.min(OPEN_MS, deadlineMs) }).catch((error) => {
      endpoint.close()
      throw error instanceof HttpError ? misplaced(error, endpoint.url, hosted) : error
    })
    if (known.length > 0 && !known.includes(path)) {
      const some = known.slice(0, 5).join(', ')
      this.#note(`${endpoint.url} does not list the model '${path}'; it lists ${some}${known.length > 5 ? ', …' : ''}`)
    }
    this.#endpoints.push(endpoint)
    return new HostedSampler(endpoint, this.#text, extra)
  }

  openTrain(): Promise<never> {
    return unsupported('train')
  }

  openScore(): Promise<never> {
    return unsupported('score with')
  }

  openReward(): Promise<never> {
    return unsupported('take as a reward model')
  }

  /** Says what the run has cost. */
  async close(): Promise<void> {
    for (const { model, use } of this.#endpoints.splice(0)) {
      const { requests, retries, promptTokens, completionTokens } = use
      const again = retries > 0 ? ` (${retries} of them again)` : ''
      this.#note(
        `${model}: ${requests} requests${again}, ${promptTokens} prompt tokens, ${completionTokens} completion tokens`,
      )
    }
    await rm(this.textDir, { recursive: true, force: true })
  }
}

/** An error of the address names the key and the variable that it comes from. */
function misplaced(cause: HttpError, url: string, { key, baseUrlEnv }: HostedSpec): TrinityError {
  const isMissing = cause.code.endsWith('/not-found')
  if (!cause.isAbsent && !isMissing) return cause
  const fix = isMissing ? 'most services want an address that ends in /v1' : cause.hint
  return new TrinityError(cause.code, cause.message, {
    path: `${key}.base_url_env`,
    hint: `the variable ${baseUrlEnv} holds ${url}: ${fix}`,
    cause,
  })
}

async function unsupported(what: string): Promise<never> {
  throw new TrinityError('engine/unsupported', `a hosted model is nothing to ${what}`, {
    hint: 'use it in mode bench, or as a judge in explorer.auxiliary_models',
  })
}
