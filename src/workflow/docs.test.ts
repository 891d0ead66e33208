import { mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { resolve } from '../../test/config-kit.js'
import { contextOf, modelOf, speaker, taskOf } from '../../test/support/workflow-kit.js'
import type * as experience from '../experience/index.js'
import { loadPlugins } from '../plugin.js'
import * as workflow from './index.js'
import { isWorkflowClass } from './workflow.js'

const { workflows } = workflow
let text: string
let dir: string
const blocks = (language: string) =>
  [...text.matchAll(new RegExp(`\`\`\`${language}\n([^]*?)\`\`\``, 'g'))].map((match) => match[1])

beforeAll(async () => {
  text = await readFile(new URL('../../docs/workflows.md', import.meta.url), 'utf8')
  dir = await realpath(await mkdtemp(join(tmpdir(), 'trinity-docs-')))
  for (const code of blocks('ts')) await writeFile(join(dir, /plugins\/(\S+)/.exec(code)![1]), code)
  await loadPlugins([dir])
})
afterAll(() => rm(dir, { recursive: true, force: true }))

async function run(name: string, speech: Parameters<typeof speaker>[0], truth?: unknown) {
  const entry = workflows.get(name)
  const context = contextOf(modelOf(await speaker(speech)), {
    task: taskOf({ workflow: name, truth, taskDesc: '1 + 2' }),
  })
  const made = isWorkflowClass(entry) ? new entry(context).run() : entry(context)
  return (await made) as experience.Experience[]
}

describe('docs/workflows.md', () => {
  it('names every workflow, as the page of the study does, and its first YAML is a configuration', async () => {
    const study = await readFile(new URL('../../docs/r3l.md', import.meta.url), 'utf8')
    for (const name of workflows.names().filter((one) => one.endsWith('_workflow')))
      expect(text + study).toContain(`\`${name}\``)
    const config = resolve(`model: {model_path: m, max_model_len: 64}\n${blocks('yaml')[0]}`)
    expect(config.buffer.explorer_input.tasksets[0].default_workflow_type).toBe('math_workflow')
  })

  it('its plugins work, each under 40 lines', async () => {
    for (const code of blocks('ts')) expect(code.split('\n').length).toBeLessThan(40)
    const [short] = await run('short_answer', () => '42', 42)
    expect(short.reward).toBeCloseTo(0.998)
    const [guess] = await run('guess', () => '0')
    expect(guess).toMatchObject({ type: 'multi_turn', info: { turns: expect.any(Number) } })
    const steps = await run('counter', (prompt) =>
      prompt.includes('2') ? 'no idea' : /after (\d)/.exec(prompt)![1] === '0' ? '1' : '2',
    )
    expect(steps.map(({ reward }) => reward)).toEqual([1, 1, -1])
    expect((await run('finisher', () => 'x')).map(({ reward }) => reward)).toEqual([1, 1, 1])
  })

  it('its agent calls tools through the client', async () => {
    const speech = (prompt: string) =>
      prompt.includes('<|tool|>3') ? '3' : '<tool_call>{"name": "add", "arguments": {"a": 1, "b": 2}}</tool_call>'
    const [whole, ...more] = await run('adding_agent', speech, 3)
    expect(more).toEqual([])
    expect(whole).toMatchObject({ type: 'multi_turn', reward: 1 })
  })
})
