import { expect, it } from 'vitest'
import { isSecretEntry, isSecretName, isSecretVariable } from './name.js'

it('knows names of secrets, however they are spelled', () => {
  const secret = ['api_key', 'apiKey', 'X-Api-Key', 'access_token', 'hf_token', 'token', 'Authorization', 'db_passwd']
  const more = [
    'PGPASSWORD',
    'client_secret',
    'aws_secret_access_key',
    'credentials',
    'cookie',
    'dsn',
    'auth',
    'db_pwd',
  ]
  for (const name of [...secret, ...more]) expect(isSecretName(name), name).toBe(true)
  const open = ['prompt_key', 'key', 'max_tokens', 'eos_token', 'tokenizer_path', 'token_level', 'author', 'monkey']
  for (const name of [...open, 'pad_token_id', 'keyword', 'passes', 'compass'])
    expect(isSecretName(name), name).toBe(false)
})

it('looks at the value where a key may be a column', () => {
  expect(isSecretEntry('judge_key', '9f86d081884c7d659a2f')).toBe(true)
  expect(isSecretEntry('judge_key', 'question')).toBe(false)
  expect(isSecretEntry('path', '9f86d081884c7d659a2f')).toBe(false)
})

it('takes every KEY and TOKEN of the environment for a secret', () => {
  for (const name of [
    'SERPER_KEY',
    'HF_TOKEN',
    'KEY',
    'MY_TOKEN_2',
    'DB_DSN',
    'X_AUTH',
    'DB_PWD',
    'GH_CREDENTIALS',
    'GIT_CRED',
    'DB_CREDS',
  ])
    expect(isSecretVariable(name), name).toBe(true)
  for (const name of ['PWD', 'HOME', 'TOKENIZERS_PARALLELISM', 'MAX_TOKENS', 'MODEL_PATH', 'DATABASE_URL'])
    expect(isSecretVariable(name), name).toBe(false)
})
