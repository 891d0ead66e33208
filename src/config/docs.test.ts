import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { configReference } from './docs.js'
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
