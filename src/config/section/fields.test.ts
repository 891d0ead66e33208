import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { type Field, type RecordSpec, typeText } from '../field.js'
import { plainScalar } from '../scalar.js'
import { decode } from '../template.js'
import { config } from './config.js'
import { trainerConfig } from './trainer-config.js'

/** Where we differ from the reference on purpose. */
const OURS: Record<string, readonly [type: string, initial: string]> = {
  // a default that is not null never gives way to the algorithm's own
  'AlgorithmConfig.repeat_times': ['int?', 'null'],
  'OptimizerConfig.clip_grad': ['float?', 'null'],
  'GenerationConfig.top_k': ['int?', 'null'],
  'GenerationConfig.n': ['int?', 'null'],
  'InferenceModelConfig.trust_remote_code': ['bool?', 'null'],
  'ExperienceBufferConfig.storage_type': ['str?', 'null'],
  'ExperienceBufferConfig.total_epochs': ['int?', 'null'],
  'InferenceModelConfig.engine_type': ['str', 'auto'],
  'TrainerConfig.trainer_type': ['str', 'auto'],
  'TrainerConfig.trainer_config': ['dict', '{}'],
  'BufferConfig.explorer_output': ['ExperienceBufferConfig?', 'null'],
  // open to everybody only where somebody asks for it
  'ExplorerConfig.listen_address': ['str?', 'null'],
}
/** Keys of our own. */
const NEW = [
  'Config.extends',
  'TasksetConfig.ratio',
  ...['repetition_penalty', 'presence_penalty', 'frequency_penalty', 'logit_bias'].map(
    (key) => `GenerationConfig.${key}`,
  ),
  'TinkerConfig.base_model',
  'ExternalModelConfig.max_in_flight',
  'ExternalModelConfig.max_retries',
  'BufferConfig.total_tokens',
  'ExplorerConfig.isolation',
  'ExplorerConfig.isolation_memory',
  ...['proxy_api_key', 'proxy_tls_cert', 'proxy_tls_key', 'proxy_history_days'].map((key) => `ExplorerConfig.${key}`),
  'InferenceModelConfig.base_url',
  'InferenceModelConfig.unknown_request_fields',
  'TrainerConfig.max_refused_updates',
  'TrainerConfig.save_dtype',
  'TrainerConfig.exact_logprobs',
  'StageConfig.model',
  'StageConfig.cluster',
  'StageConfig.synchronizer',
]
/** Filled in by the program in the reference, honored when set here. */
const HONORED = ['temperature', 'top_p', 'top_k', 'logprobs'].map((key) => `InferenceModelConfig.${key}`)

const records = new Map<string, RecordSpec>()
function collect(spec: RecordSpec): void {
  if (records.has(spec.name)) return
  records.set(spec.name, spec)
  for (const field of Object.values(spec.fields)) collectField(field)
}
function collectField(field: Field): void {
  if (field.record) collect(field.record)
  if (field.item) collectField(field.item)
}
collect(config)

const lines = readFileSync(new URL('fields.fixture.txt', import.meta.url), 'utf8').split('\n')
let record = ''
const facts = lines.flatMap((line) => {
  if (!line.startsWith(' ')) {
    record = line
    return []
  }
  const [key, type, ...rest] = line.trim().split(' ')
  const isDerived = rest.at(-1) === '†'
  return [{ record, key, type, initial: (isDerived ? rest.slice(0, -1) : rest).join(' '), isDerived }]
})

describe('every field of the reference', () => {
  it.each([...new Set(facts.map((fact) => fact.record))])('%s', (name) => {
    for (const { record, key, type, initial, isDerived } of facts) {
      if (record !== name) continue
      const full = `${record}.${key}`
      const field = records.get(record)?.fields[key]
      expect(field, full).toBeDefined()
      if (!field) continue
      const [wantType, wantInitial] = OURS[full] ?? [type, initial]
      // closed sets are enums of ours where the reference has plain strings
      expect(typeText(field).replace('enum', 'str'), full).toBe(wantType.replace(/^enum:\w+/, 'str'))
      expect(shown(field, wantInitial), full).toEqual(expected(wantInitial))
      const ours = HONORED.includes(full) || full in OURS || key === 'schema_type'
      if (isDerived && !ours) expect(field.derived, `${full} is filled in`).toBe(true)
    }
  })

  it('has nothing else', () => {
    const known = new Set(facts.map((fact) => `${fact.record}.${fact.key}`))
    const here = [...records].flatMap(([name, spec]) => Object.keys(spec.fields).map((key) => `${name}.${key}`))
    expect(here.filter((name) => !known.has(name))).toEqual(NEW)
  })
})

function shown(field: Field, want: string): unknown {
  return want === 'record' ? (field.initial ? 'record' : 'none') : field.initial ? field.initial() : '(required)'
}

function expected(text: string): unknown {
  if (text === 'record' || text === '(required)') return text
  if (text === '""') return ''
  return /^[[{]/.test(text) ? decode(text) : plainScalar(text).value
}

describe('descriptions', () => {
  it('say something about every key, in one line', () => {
    collect(trainerConfig)
    for (const [name, spec] of records) {
      for (const [key, field] of Object.entries(spec.fields)) {
        expect(field.doc, `${name}.${key}`).toMatch(/^.{4,160}$/)
      }
    }
  })
})
