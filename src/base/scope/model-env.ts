import { PLACEHOLDER, type Scope } from './scope.js'

/** A model as the SDKs of others look for it in the environment. */
export function modelEnv(place: { openai: string; anthropic: string; key: string }): Record<string, string> {
  return {
    OPENAI_BASE_URL: place.openai,
    OPENAI_API_BASE: place.openai,
    OPENAI_API_KEY: place.key,
    ANTHROPIC_BASE_URL: place.anthropic,
    ANTHROPIC_API_KEY: place.key,
  }
}

/**
 * For code that is loaded before there is a rollout: a client that it makes at once finds the model later. A provider that
 * the user has a key for stays as it is.
 */
export function loadingScope(env: NodeJS.ProcessEnv = process.env): Scope {
  const all = modelEnv({ openai: `${PLACEHOLDER}/v1`, anthropic: PLACEHOLDER, key: 'rollout' })
  const isFree = (name: string) => {
    const provider = name.split('_')[0]
    return !env[`${provider}_API_KEY`] && !env[`${provider}_BASE_URL`]
  }
  return { env: Object.fromEntries(Object.entries(all).filter(([name]) => isFree(name))) }
}
