import { describe, expect, it } from 'vitest'
import { redact } from '../base/secret/index.js'
import { sharedConfig } from '../monitor/remote/shared-config.js'
import { jsonSchema } from './json-schema.js'
import { parseConfig, readText } from './load.js'
import { printConfig } from './print.js'
import { concealed } from './secret.js'

const env = {
  DB_PASSWORD: 'p@ss:w/rd',
  MY_TOKEN: 'tok-1234567',
  SHORT_KEY: 'xyz',
  PIN_SECRET: '{a: 778899, b: [deep-secret-1]}',
  OPENAI_API_KEY: 'EMPTY',
  DATABASE_URL: 'postgresql://u:from-env-url@h/d',
  PLACE: 'somewhere',
}

const yaml = `
project: \${oc.env:PLACE}
explorer:
  env_vars: {PLAIN_NAME: env-secret-1, OTHER: 12}
  db_url: \${oc.env:DATABASE_URL}
  rollout_model:
    api_key: engine-secret-1
    extra_engine_args: {headers: {Authorization: "Bearer \${oc.env:MY_TOKEN}", accept: json}, prompt_key: question}
  auxiliary_models:
    - {model_path: m, api_key: "\${oc.env:OPENAI_API_KEY}", chat_template: "x \${oc.env:SHORT_KEY} y"}
buffer:
  explorer_input:
    taskset:
      path: postgresql://user:\${oc.env:DB_PASSWORD}@host/db?sslpassword=ssl-secret-1
      format: {prompt_key: question}
      workflow_args:
        judge: {api_key: judge-secret-1, password: 123456789, max_tokens: 5, again: "\${explorer.rollout_model.api_key}"}
        list: [{name: X-Api-Key, value: header-secret-1}]
        env_vars: {A: inner-secret-1}
        decoded: \${oc.decode:\${oc.env:PIN_SECRET}}
        fallback: \${oc.env:NOT_SET_TOKEN,default-secret-1}
monitor:
  monitor_args: {api_key: wandb-secret-1}
trainer:
  trainer_config: {trainer: {hub_token: lenient-secret-1}}
`
const SECRETS = [
  ...['p@ss', 'w/rd', 'tok-1234567', 'xyz', '778899', 'deep-secret', 'from-env-url', 'env-secret', 'engine-secret'],
  ...['ssl-secret', 'judge-secret', '123456789', 'header-secret', 'inner-secret', 'default-secret', 'wandb-secret'],
  'lenient-secret',
]

describe('secrets of a configuration', () => {
  const { config } = parseConfig(yaml, 'c.yaml', { env }).stages[0]

  it('are real where the run uses them', () => {
    expect(config.explorer.rollout_model.api_key).toBe('engine-secret-1')
    expect(config.explorer.env_vars).toEqual({ PLAIN_NAME: 'env-secret-1', OTHER: 12 })
    expect(config.buffer.explorer_input.taskset?.path).toBe(
      'postgresql://user:p@ss:w/rd@host/db?sslpassword=ssl-secret-1',
    )
  })

  it('are hidden where it is shown, sent or stored, and nothing else is', () => {
    const shown = concealed(config)
    const texts = [printConfig(shown), JSON.stringify(shown), JSON.stringify(sharedConfig(config))]
    for (const text of texts) for (const secret of SECRETS) expect(text).not.toContain(secret)
    const set = shown.buffer.explorer_input.taskset
    expect(set?.path).toBe('postgresql://user:***@host/db?sslpassword=***')
    expect(set?.format.prompt_key).toBe('question')
    expect(set?.workflow_args).toMatchObject({
      judge: { api_key: '***', max_tokens: 5 },
      list: [{ name: 'X-Api-Key' }],
    })
    expect(shown.project).toBe('somewhere')
    expect(shown.explorer.env_vars).toEqual({ PLAIN_NAME: '***', OTHER: '***' })
    expect(shown.explorer.rollout_model.extra_engine_args).toEqual({
      headers: { Authorization: '***', accept: 'json' },
      prompt_key: 'question',
    })
    expect(shown.explorer.auxiliary_models[0]).toMatchObject({ api_key: 'EMPTY', chat_template: 'x *** y' })
    expect(concealed(parseConfig('name: x', 'd.yaml').stages[0].config)).toEqual(
      parseConfig('name: x', 'd.yaml').stages[0].config,
    )
  })

  it('are known to every text from then on', () => {
    const text = redact('failed with p@ss:w/rd, wandb-secret-1 and engine-secret-1; Bearer tok-1234567')
    for (const secret of SECRETS) expect(text).not.toContain(secret)
  })
})

describe('problems', () => {
  const told = (text: string, set: string[] = []) => {
    try {
      return JSON.stringify(readText(text, 'c.yaml', { env, set }).problems.all)
    } catch (error) {
      return JSON.stringify(error) + (error as Error).stack
    }
  }

  it('do not quote a secret of the wrong type', () => {
    const texts = [
      told('explorer: {env_vars: q1}'),
      told('explorer: {eval_interval: "${oc.env:SHORT_KEY}"}'),
      told('explorer: {proxy_port: "${oc.env:MY_TOKEN}"}'),
      told('explorer: {proxy_port: "pg://u:q1@h"}'),
      told('mode: both', ['explorer.rollout_model.api_keys=override-secret-1', 'mode=override-secret-1']),
      told('mode: both', ['sk-forgotten-key']),
      told('mode: both', ['=sk-forgotten-key']),
      told('mode: both', ['explorer.rollout_model.api_key="sk-forgotten-key']),
    ]
    for (const text of texts) {
      expect(text).toMatch(/expected|unknown key|--set/)
      expect(text).not.toMatch(/q1|xyz|tok-1234567|override-secret|sk-forgotten/)
    }
  })
})

it('JSON Schema marks what is secret', () => {
  const { $defs } = jsonSchema() as { $defs: Record<string, { properties: Record<string, Record<string, unknown>> }> }
  expect($defs.InferenceModelConfig.properties.api_key.writeOnly).toBe(true)
  expect($defs.ExplorerConfig.properties.env_vars.writeOnly).toBe(true)
  expect($defs.InferenceModelConfig.properties.model_path.writeOnly).toBeUndefined()
})
