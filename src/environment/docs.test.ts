import { readFileSync } from 'node:fs'
import * as vitest from 'vitest'
import { beforeAll, describe, expect, it } from 'vitest'
import { resolve } from '../../test/config-kit.js'
import { PLUGINS } from '../../test/examples/kit.js'
import { loadPlugins } from '../plugin.js'
import { describeEnvironment } from '../testing/environment.js'
import { environments, openEnvironment } from './index.js'

const page = readFileSync(new URL('../../docs/environments.md', import.meta.url), 'utf8')
const block = (language: string) => new RegExp(`\`\`\`${language}\n([^]*?)\`\`\``).exec(page)?.[1]

beforeAll(() => loadPlugins([PLUGINS]))

describe('docs/environments.md', () => {
  it('names every environment with its arguments, and its YAML is a configuration', () => {
    expect(environments.names()).toContain('guess_number')
    for (const name of environments.names().filter((one) => one !== 'guess_number')) {
      const line = page.split('\n').find((one) => one.startsWith(`| \`${name}\``))
      for (const key of Object.keys(environments.get(name).args.shape)) expect(line).toContain(`\`${key}\``)
      expect(line).toContain(`| ${environments.get(name).maxSteps} |`)
    }
    const config = resolve(`model: {model_path: m, max_model_len: 64}\n${block('yaml')}`)
    expect(config.buffer.explorer_input.tasksets[0].workflow_args.environment).toBe('grid_world')
  })

  it('shows the example as it is', () => {
    expect(block('ts')).toBe(readFileSync(`${PLUGINS}/guess_number.ts`, 'utf8'))
  })
})

// the suite as the page shows it
const suite = /```ts no-run[^\n]*\n([\s\S]*?)```/.exec(page)![1].replace(/^import .*$/gm, '')
new Function('describeEnvironment', 'openEnvironment', 'vitest', suite)(describeEnvironment, openEnvironment, vitest)
