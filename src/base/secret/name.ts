/** Words that make any name secret. */
const SURE =
  /^(\w*(password|passwd|passphrase|secret|credential|apikey|accesskey)s?|creds?|pass|auth|authorization|bearer|cookies?|dsn|jwt|signature|sig)$/
/** What stands before `key` in the name of a key that opens something; `prompt_key` names a column. */
const KEYS =
  /^(api|access|secret|private|sign|signing|encryption|account|master|auth|service|ssh|subscription|license|deploy|admin|client|shared|session|app|storage|openai|wandb|hf|azure|aws|google|anthropic|dashscope|tinker)$/
/** What stands before `token` in the name of a piece of text. */
const TEXT_TOKENS =
  /^(pad|eos|bos|unk|cls|sep|mask|stop|special|start|end|image|video|think|max|min|num|per|prompt|response)$/

/** Whether what stands under this key of a free mapping is a secret: `api_key`, `X-Auth-Token`, `dbPassword`. */
export function isSecretName(name: string): boolean {
  const words = wordsOf(name)
  const [before = '', last = ''] = [words.at(-2), words.at(-1)]
  if (words.some((word) => SURE.test(word))) return true
  if (last === 'pwd') return true
  if (last === 'token') return !TEXT_TOKENS.test(before)
  return last.endsWith('token') || (/^keys?$/.test(last) && KEYS.test(before))
}

/** The same with a look at the value: `judge_key: 9f86d081884c7d65` is a key, `judge_key: question` is a column. */
export function isSecretEntry(name: string, value: unknown): boolean {
  if (isSecretName(name)) return true
  return /^keys?$/.test(wordsOf(name).at(-1) ?? '') && typeof value === 'string' && looksRandom(value)
}

/** Whether an environment variable of this name holds a secret. Nobody names columns there, so any KEY is one. */
export function isSecretVariable(name: string): boolean {
  // the current folder
  if (name === 'PWD') return false
  return isSecretName(name) || wordsOf(name).some((word) => /(key|token|^keys)$/.test(word))
}

function looksRandom(value: string): boolean {
  return value.length >= 16 && /\d/.test(value) && /[a-z]/i.test(value) && !/[\s/]/.test(value)
}

function wordsOf(name: string): string[] {
  return name
    .replace(/([a-z\d])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[^a-z\d]+/)
    .filter((word) => word !== '')
}
