import type { Config } from '../../config/index.js'
import { placeIn } from '../../engine/openai/place.js'
import { hostedModels } from '../hosted.js'
import { type Refusal, refusalOf } from './refusal.js'

/** Variables of hosted models that are not set here: they may be where the run will be. */
export function unsetVariables(config: Config): Refusal[] {
  return hostedModels(config).flatMap(({ baseUrlEnv, apiKeyEnv, key }) => {
    const keys = { baseUrl: `${key}.base_url_env`, apiKey: `${key}.api_key_env` }
    const look = () => placeIn({ baseUrl: baseUrlEnv, apiKey: apiKeyEnv }, keys)
    return refusalOf([keys.baseUrl], look).map((refusal) => ({ ...refusal, isDoubtful: true }))
  })
}
