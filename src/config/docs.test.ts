import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { configReference } from './docs.js'
import { jsonSchema } from './json-schema.js'
import { config } from './section/config.js'

const root = join(import.meta.dirname, '../..')

describe('docs/configuration.md', () => {
  it('is fresh (else: trinity config docs -o docs/configuration.md)', () => {
    expect(readFileSync(join(root, 'docs/configuration.md'), 'utf8')).toBe(configReference())
  })
  it('has every top-level key and no machine paths', () => {
    const text = configReference()
    for (const key of Object.keys(config.fields)) expect(text).toContain(`| \`${key}\``)
    expect(text).not.toMatch(/undefined|\[object/)
  })
})

type Schema = { [key: string]: unknown; properties?: Record<string, Schema>; $defs?: Record<string, Schema> }

describe('JSON Schema', () => {
  const schema = jsonSchema() as Schema
  it('refers only to what is there', () => {
    const refs = [...JSON.stringify(schema).matchAll(/"\$ref":"#\/\$defs\/(\w+)"/g)].map((match) => match[1])
    expect(refs.length).toBeGreaterThan(30)
    for (const name of refs) expect(schema.$defs).toHaveProperty(name)
  })
  it('tells types, defaults, values and strictness', () => {
    expect(schema).toMatchObject({
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      additionalProperties: false,
    })
    expect(schema.properties?.mode).toMatchObject({
      default: 'both',
      anyOf: [{ enum: ['both', 'explore', 'train', 'bench', 'serve', 'colocate'] }, { type: 'string' }],
    })
    expect(schema.$defs?.BufferConfig.properties?.batch_size).toMatchObject({
      default: 1,
      anyOf: [{ type: 'integer', minimum: 1 }, {}],
    })
    expect(schema.$defs?.BufferConfig.properties?.total_steps).toMatchObject({
      anyOf: [{ type: 'integer' }, {}, { type: 'null' }],
    })
    expect(schema.$defs?.StageConfig).toMatchObject({ required: ['stage_name'] })
    expect(schema.$defs?.TrainerActor).toMatchObject({ additionalProperties: true })
  })
})
