import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { testData } from '../../test/support/test-data.js'
import { ALIASES } from './alias.js'
import { jsonSchema } from './json-schema.js'

type Schema = { [key: string]: unknown; properties?: Record<string, Schema>; $defs?: Record<string, Schema> }

const root = join(import.meta.dirname, '../..')
const schema = jsonSchema() as Schema
const validate = new Ajv2020({ allErrors: true, allowUnionTypes: true }).compile(schema)
/** The keys that an editor would mark. */
const marked = (value: unknown) =>
  validate(value) ? [] : [...new Set(validate.errors?.map((error) => error.instancePath))]

describe('JSON Schema', () => {
  it('tells types, defaults, values and strictness', () => {
    expect(schema).toMatchObject({
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      additionalProperties: false,
    })
    expect(schema.properties?.mode).toMatchObject({ default: 'both' })
    expect(schema.properties?.mode.anyOf).toContainEqual({
      enum: ['both', 'explore', 'train', 'bench', 'serve', 'colocate'],
    })
    expect(schema.$defs?.BufferConfig.properties?.batch_size).toMatchObject({ default: 1 })
    expect(schema.$defs?.StageConfig).toMatchObject({ required: ['stage_name'] })
    expect(schema.$defs?.TrainerActor).toMatchObject({ additionalProperties: true })
  })

  it.each([
    [{ mode: 'both', log: { level: 'debug' } }],
    [{ mode: 'TRAIN', synchronizer: { sync_style: 'dynamic_by_explorer' } }],
    [{ buffer: { batch_size: '${oc.env:SIZE,32}', total_steps: null } }],
    // what a reader of YAML 1.1 makes of `lr: 1e-6` and of quoted numbers
    [{ algorithm: { optimizer: { lr: '1e-6' } }, buffer: { batch_size: '32' }, trainer: { use_dynamic_bsz: 'yes' } }],
    [{ trainer: { trainer_config: { actor_rollout_ref: { actor: { a_key_of_a_later_version: 1 } } } } }],
    [{ buffer: { max_retry_times: 3, trainer_input: { sft_warmup_steps: 0 } }, model: { max_token_len: 9 } }],
  ])('takes %j', (value) => expect(marked(value)).toEqual([]))

  it.each([
    [{ mode: 'bothh' }, '/mode'],
    [{ buffer: { batch_size: 0 } }, '/buffer/batch_size'],
    [{ buffer: { batch_size: 'x' } }, '/buffer/batch_size'],
    [{ buffer: { batchsize: 1 } }, '/buffer'],
    [{ algorithm: { optimizer: { lr: true } } }, '/algorithm/optimizer/lr'],
    [{ explorer: { rollout_model: { engine_num: 1.5 } } }, '/explorer/rollout_model/engine_num'],
    [{ stages: [{ mode: 'train' }] }, '/stages/0'],
    [[], ''],
  ])('marks the fault of %j', (value, key) => expect(marked(value)).toContain(key))

  it('knows every older key, as deprecated', () => {
    for (const { in: record, old } of ALIASES) {
      const shape = record === 'Config' ? schema : schema.$defs?.[record]
      expect(shape?.properties, `${record}.${old}`).toHaveProperty(old.split('.')[0])
    }
    expect(schema.$defs?.ModelConfig.properties?.max_token_len).toEqual({
      deprecated: true,
      description: 'Now max_model_len.',
    })
  })

  const documented = testData('documented')
  const folders = [join(root, 'examples'), ...(documented.absent ? [] : [documented.path])]
  const files = folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      // sweeps name configurations, and are none
      .filter((name) => name.endsWith('.yaml') && !name.endsWith('sweep.yaml'))
      .map((name) => join(folder, name)),
  )
  it.each(files)('takes %s in either version of YAML', (file) => {
    const text = readFileSync(file, 'utf8')
    expect(marked(parse(text, { version: '1.1' }))).toEqual([])
    expect(marked(parse(text, { version: '1.2' }))).toEqual([])
  })
})
