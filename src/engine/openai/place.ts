import { TrinityError } from '../../base/error.js'
import { rememberSecret, rememberUrl } from '../../base/secret/index.js'

/** Address and key of a service, out of the variables that a configuration names. */
export function placeIn(
  variables: { baseUrl: string; apiKey: string },
  keys: { baseUrl: string; apiKey: string },
  env: NodeJS.ProcessEnv = process.env,
  code = 'engine/openai/variable',
): { baseUrl: string; apiKey: string } {
  const read = (which: 'baseUrl' | 'apiKey', hint: string) => {
    const value = env[variables[which]]?.trim()
    if (value) return value
    throw new TrinityError(code, `the variable ${variables[which]} is not set`, { path: keys[which], hint })
  }
  const baseUrl = read('baseUrl', 'set it to the address of the service, such as https://api.openai.com/v1')
  rememberUrl(baseUrl)
  if (!/^https?:\/\//i.test(baseUrl) || !URL.canParse(baseUrl)) {
    // the value is not shown: it may be the key
    throw new TrinityError(code, `the variable ${variables.baseUrl} holds no http address`, {
      path: keys.baseUrl,
      hint: 'set it to an address such as http://localhost:8000/v1',
    })
  }
  const apiKey = read('apiKey', 'set it to the key of the service; where none is checked, any text will do')
  rememberSecret(apiKey)
  return { baseUrl, apiKey }
}
