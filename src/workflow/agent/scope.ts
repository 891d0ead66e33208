import { modelEnv, type Scope } from '../../base/scope/index.js'
import type { Session } from '../../gateway/index.js'

/** A session as code of a rollout finds it without being told. */
export function scopeOf({ baseURL, anthropicBaseURL, apiKey }: Session): Scope {
  return {
    env: modelEnv({ openai: baseURL, anthropic: anthropicBaseURL, key: apiKey }),
    target: { url: anthropicBaseURL, key: apiKey },
  }
}
