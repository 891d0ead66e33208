import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { datasets } from './index.js'

const page = readFileSync(new URL('../../docs/data.md', import.meta.url), 'utf8')

it('docs/data.md names every data set', () => {
  expect(datasets.names().filter((name) => !page.includes(`\`${name}\``))).toEqual([])
})

it('names the options of those that it describes', () => {
  for (const name of ['countdown', 'gsm8k', 'math', 'dapo', 'math_eval']) {
    const line = page.split('\n').find((one) => one.startsWith(`| \`${name}\``))
    const options = Object.keys(datasets.get(name).args.shape).map((key) => `--${key.replaceAll('_', '-')}`)
    expect(options.filter((option) => !line?.includes(`\`${option}\``))).toEqual([])
  }
})
