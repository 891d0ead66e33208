import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { resolve } from '../../test/config-kit.js'
import { type ArgumentSchema, parseArguments } from '../base/arguments.js'
import { workflows } from '../workflow/index.js'
import { datasets } from './index.js'

const MODEL = 'model: {model_path: m, max_model_len: 64}\n'

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

it('the YAML of every data set is a configuration whose workflows take what they are given', () => {
  for (const name of datasets.names()) {
    const { args, yaml } = datasets.get(name)
    // Those that must be told something: a world, a family.
    const { data } = args.safeParse({})
    if (!data) continue
    const { explorer_input: input } = resolve(`${MODEL}${yaml(data as never, 'data/x')}`).buffer
    const tasksets = [...input.tasksets, ...input.eval_tasksets]
    expect(tasksets.length, name).toBeGreaterThan(0)
    for (const { path, default_workflow_type: workflow, workflow_args } of tasksets) {
      expect(path).toBe('data/x')
      const entry = workflows.get(workflow as string) as { args?: ArgumentSchema }
      if (entry.args) parseArguments(`workflow '${workflow}'`, entry.args, workflow_args, name)
    }
  }
})
