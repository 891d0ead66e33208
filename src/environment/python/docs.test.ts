import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { resolve } from '../../../test/config-kit.js'
import { environments } from '../index.js'
import { pythonArgs } from './args.js'

const page = readFileSync(new URL('../../../docs/python-environments.md', import.meta.url), 'utf8')

describe('docs/python-environments.md', () => {
  it.each(['gymnasium', 'reasoning_gym', 'verifiers'])('has a line for every argument of %s', (name) => {
    const section = page.slice(page.indexOf(`\n## \`${name}\``)).split('\n## ')[1]
    const common = page.slice(page.indexOf('## Which Python')).split('\n## ')[0]
    for (const [key, type] of Object.entries(environments.get(name).args.shape)) {
      const text = Object.hasOwn(pythonArgs, key) ? common : section
      const line = text.split('\n').find((one) => new RegExp(`^\\| [^|]*\`${key}\``).test(one))
      expect(line, key).toBeDefined()
      const { success, data } = type.safeParse(undefined)
      if (success && typeof data === 'number') expect(line).toContain(String(data))
    }
  })

  it('its configurations are ones', () => {
    const blocks = [...page.matchAll(/```yaml[^\n]*\n(buffer:[\s\S]*?)```/g)].map(([, text]) => text)
    expect(blocks).toHaveLength(3)
    for (const text of blocks) {
      const { tasksets } = resolve(`model: {model_path: m, max_model_len: 64}\n${text}`).buffer.explorer_input
      expect(environments.has(tasksets[0].workflow_args.environment as string)).toBe(true)
    }
  })
})
