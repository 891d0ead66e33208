import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parseConfig } from '../load.js'
import { upgradeText } from './upgrade.js'

const OLD = `# an old file
mode: both   # aligned    comment
monitor:
  # the name of it all
  project: "P"   # p
  name: n

model:
  model_path: m
  max_token_len: 1024  # was this


explorer:
  engine_type: mock # engine
  repeat_times: 8
  runner_num:   4
buffer:
  read_batch_size:   32
  pad_token_id: 0
  explorer_input:
    system_prompt: "You are
      kind"
    taskset:
      path: \${oc.env:HOME}/x
      task_selector: { selector_type: sequential }
    eval_tasksets:
      - name: a
        path: b
synchronizer:
  sync_style: dynamic_by_explorer
trainer:
  trainer_config:
    actor_rollout_ref:
      actor:
        # keep me
        grad_clip: 1.0
        use_torch_compile: true
`

const NEW = `# an old file
mode: both   # aligned    comment

model:
  model_path: m
  max_model_len: 1024 # was this


explorer:
  runner_num:   4
  rollout_model:
    engine_type: mock # engine
buffer:
  train_batch_size: 32
  explorer_input:
    taskset:
      path: \${oc.env:HOME}/x
      data_selector: { selector_type: sequential }
      format:
        system_prompt: "You are kind"
    eval_tasksets:
      - name: a
        path: b
        format:
          system_prompt: "You are kind"
synchronizer:
  sync_style: explorer_driven
trainer:
  trainer_config:
    actor_rollout_ref:
      actor:
        use_torch_compile: true
  # keep me
  grad_clip: 1.0
# the name of it all
project: "P" # p
name: n
algorithm:
  repeat_times: 8
`

describe('an older file', () => {
  it('has its present names, with its order, comments and layout', () => {
    const { text, changes } = upgradeText(OLD, 'old.yaml')
    expect(text).toBe(NEW)
    expect(changes.map(({ key, message }) => `${key}: ${message}`)).toEqual(
      expect.arrayContaining([
        'model.max_token_len: is now model.max_model_len',
        'buffer.pad_token_id: the tokenizer knows it',
        'synchronizer.sync_style: dynamic_by_explorer is now explorer_driven',
      ]),
    )
  })

  it('means what it meant', () => {
    const meant = (text: string) => parseConfig(text, 'x.yaml', { env: { HOME: '/h' } }).stages[0].config
    const [before, after] = [meant(OLD), meant(NEW)]
    // the old name is read as well, and is none of the present ones
    const { task_selector } = before.buffer.explorer_input.taskset as { task_selector: unknown }
    Object.assign(before.buffer.explorer_input.taskset as object, { task_selector: null, data_selector: task_selector })
    expect(after).toEqual(before)
  })
})

it('a current file stays as it is, byte for byte', () => {
  for (const text of [NEW, '{ mode:   both }', 'trainer:\n  trainer_config: {actor: {use_torch_compile: true}}\r\n']) {
    expect(upgradeText(text, 'x.yaml')).toEqual({ text, changes: [] })
  }
})

it('a warm-up becomes a stage of its own', () => {
  const { text } = upgradeText(
    'buffer:\n  trainer_input:\n    sft_warmup_dataset:\n      path: d # data\n    sft_warmup_steps: 3\n',
    'x.yaml',
  )
  expect(text).toContain('stages:\n  - stage_name: sft_warmup\n')
  expect(upgradeText(text, 'x.yaml').text).toBe(text)
})

it('what stands in an anchor is told, not guessed', () => {
  const text = 'x: &a\n  repeat_times: 8\nexplorer:\n  <<: *a\n'
  expect(() => upgradeText(text, 'x.yaml')).toThrow(/x\.yaml cannot be rewritten/)
  expect(() => upgradeText('a: [', 'x.yaml')).toThrow(/problem in x\.yaml/)
})

describe('our own examples', () => {
  const root = resolve(import.meta.dirname, '../../..')
  const files = ['examples', 'templates'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.yaml') && !/(^|[\\/])(made|checkpoints|node_modules)[\\/]/.test(name))
      .map((name) => join(folder, name)),
  )
  /** The files of the R3L study and of veRL keep the words of what they copy. */
  const copies = files.filter((file) => /^examples[\\/](R3L[\\/](?!small)|verl)/.test(file))

  it('need no upgrade', () => {
    const changed = (file: string) => {
      const text = readFileSync(join(root, file), 'utf8')
      return upgradeText(text, file).text !== text
    }
    expect(copies).toHaveLength(52)
    expect(files.filter((file) => !copies.includes(file) && changed(file))).toEqual([])
    expect(files.length).toBeGreaterThan(copies.length + 30)
  })
})
