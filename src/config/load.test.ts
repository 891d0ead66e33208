import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { errorsOf, parse, resolveAll } from '../../test/config-kit.js'
import { TrinityError } from '../base/error.js'
import { loadConfig } from './load.js'

function folder(files: Record<string, string>): string {
  const dir = mkdtempSync(join(tmpdir(), 'trinity-config-'))
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, name)), { recursive: true })
    writeFileSync(join(dir, name), text)
  }
  return dir
}
const load = (files: Record<string, string>, file = 'f.yaml', env = {}) =>
  loadConfig(file, { cwd: folder(files), env }).stages[0].config

it('refuses a file that is not UTF-8 instead of putting U+FFFD into it', () => {
  const dir = folder({})
  writeFileSync(join(dir, 'f.yaml'), Buffer.from('name: caf\xe9\n', 'latin1'))
  expect(() => loadConfig('f.yaml', { cwd: dir })).toThrow(
    expect.objectContaining({ code: 'config/encoding', path: 'f.yaml' }),
  )
})

it('says whether everything stands in the file', () => {
  const cwd = folder({ 'f.yaml': 'name: a' })
  expect(loadConfig('f.yaml', { cwd }).isOverridden).toBe(false)
  expect(loadConfig('f.yaml', { cwd, set: ['name=b'] }).isOverridden).toBe(true)
})

describe('unknown keys', () => {
  it('are errors with the nearest known key, all at once', () => {
    const problems = errorsOf(() =>
      parse('mdoe: both\nbuffer:\n  batchsize: 4\n  explorer_input:\n    tasksets:\n      - pth: x\nzzz: 1\n'),
    )
    expect(problems).toMatchObject([
      { code: 'unknown-key', key: 'mdoe', mark: { line: 1, column: 1 }, hint: 'did you mean mode?' },
      { key: 'buffer.batchsize', mark: { line: 3, column: 3 }, hint: 'did you mean batch_size?' },
      { key: 'buffer.explorer_input.tasksets[0].pth', mark: { line: 6, column: 9 }, hint: 'did you mean path?' },
      { key: 'zzz', mark: { line: 7, column: 1 } },
    ])
  })

  it('point to the right place, and to a key of the same shape', () => {
    const problems = errorsOf(() => parse('algorithm: {lr: 1}\nmodl: {top_k: 1}\ntensor_parallel_size: 2'))
    expect(problems.map((one) => one.hint)).toEqual([
      'did you mean algorithm.optimizer.lr?',
      'did you mean model?',
      'did you mean explorer.rollout_model.tensor_parallel_size?',
    ])
  })

  it('come together with what the derived values find, and without what only follows', () => {
    const text = 'algorithm: {algorithm_type: gpro}\nmodel: {model_path: "${oc.env:NO}", max_model_len: 2k}\nmdoe: x'
    expect(errorsOf(() => resolveAll(text)).map((one) => one.key)).toEqual([
      'model.model_path',
      'model.max_model_len',
      'mdoe',
      'algorithm.algorithm_type',
      'buffer.explorer_input.taskset',
    ])
  })

  it('come together with a key given twice', () => {
    const text = 'mode: bothh\nmodel: {model_path: m, max_model_len: 9}\nmode: train\nnmae: x'
    expect(errorsOf(() => parse(text)).map(({ key }) => key)).toEqual(['mode', 'mode', 'nmae'])
  })

  it('are not blamed on a file whose base is missing', () => {
    expect(errorsOf(() => resolveAll('extends: gone.yaml', { cwd: '/nowhere' }))).toMatchObject([{ key: 'extends' }])
  })

  it('below trainer_config are warnings and stay', () => {
    const { stages, problems } = parse(
      'trainer: {trainer_config: {actor_rollout_ref: {actor: {ppo_epoch: 2, ppo_epochs: "3"}}}}',
    )
    expect(problems.remarks).toMatchObject([
      {
        severity: 'warning',
        key: 'trainer.trainer_config.actor_rollout_ref.actor.ppo_epoch',
        hint: 'did you mean ppo_epochs?',
      },
    ])
    expect(stages[0].config.trainer.trainer_config).toEqual({
      actor_rollout_ref: { actor: { ppo_epoch: 2, ppo_epochs: 3 } },
    })
  })

  it('one error names everything', () => {
    try {
      parse('mdoe: both\nname: [1]\n')
      expect.unreachable()
    } catch (error) {
      expect(error).toBeInstanceOf(TrinityError)
      expect((error as TrinityError).code).toBe('config/invalid')
      expect((error as TrinityError).message).toContain(
        '2 problems in f.yaml\n  f.yaml:1:1 mdoe: unknown key (did you mean mode?)',
      )
    }
  })
})

describe('known keys without effect', () => {
  it('give notes', () => {
    const { problems } = parse(
      'explorer: {runner_num: 3}\ncluster: {total_gpu_num: 9}\ntrainer: {trainer_config: {data: {a: 1}}}',
    )
    expect(problems.remarks).toMatchObject([
      { severity: 'note', code: 'no-effect', key: 'explorer.runner_num' },
      { severity: 'note', code: 'no-effect', key: 'cluster.total_gpu_num' },
      { severity: 'note', code: 'no-effect', key: 'trainer.trainer_config.data' },
    ])
  })

  it('so does a mini-batch: an update takes the whole batch of a step', () => {
    const { problems } = parse('trainer: {trainer_config: {actor: {ppo_mini_batch_size: 64, shuffle: true}}}')
    const key = 'trainer.trainer_config.actor_rollout_ref.actor'
    expect(problems.remarks).toMatchObject([
      { key: `${key}.ppo_mini_batch_size`, message: 'comes from buffer.train_batch_size' },
      { key: `${key}.shuffle` },
    ])
  })
})

describe('extends', () => {
  it('merges maps and replaces the rest', () => {
    const config = load({
      'f.yaml': 'extends: base/a.yaml\nname: over\nalgorithm: {optimizer: {betas: [0.8, 0.9]}}',
      'base/a.yaml':
        'extends: [b.yaml, c.yaml]\nname: a\nproject: p\nalgorithm: {repeat_times: 4, optimizer: {lr: 1e-3, betas: [0.1, 0.2]}}',
      'base/b.yaml': 'group: b\nbuffer: {batch_size: 2, total_epochs: 9}',
      'base/c.yaml': 'group: c\nbuffer: {batch_size: 3}',
    })
    expect(config).toMatchObject({ name: 'over', project: 'p', group: 'c', buffer: { batch_size: 3, total_epochs: 9 } })
    expect(config.algorithm).toMatchObject({ repeat_times: 4, optimizer: { lr: 1e-3, betas: [0.8, 0.9] } })
  })

  it('resolves references in the merged file', () => {
    expect(load({ 'f.yaml': 'extends: a.yaml\nname: x', 'a.yaml': 'project: p-${name}' }).project).toBe('p-x')
    expect(load({ 'f.yaml': 'extends: ${oc.env:B}.yaml', 'a.yaml': 'name: y' }, 'f.yaml', { B: 'a' }).name).toBe('y')
  })

  it('replaces taskset by tasksets and the other way round', () => {
    const files = {
      'f.yaml': 'extends: a.yaml\nbuffer: {explorer_input: {tasksets: [{path: x}, {path: y}]}}',
      'a.yaml': 'buffer: {explorer_input: {taskset: {path: z}}}',
    }
    expect(load(files).buffer.explorer_input).toMatchObject({ taskset: null, tasksets: [{ path: 'x' }, { path: 'y' }] })
  })

  it('names the base and its line', () => {
    const dir = folder({ 'sub/f.yaml': 'extends: a.yaml', 'sub/a.yaml': 'name: x\nnmae: y' })
    const [problem] = errorsOf(() => loadConfig('sub/f.yaml', { cwd: dir, env: {} }))
    expect(problem).toMatchObject({ key: 'nmae', mark: { file: 'sub/a.yaml', line: 2 } })
  })

  it('finds circles and missing files', () => {
    const circle = folder({ 'f.yaml': 'extends: a.yaml', 'a.yaml': 'extends: f.yaml' })
    expect(errorsOf(() => loadConfig('f.yaml', { cwd: circle, env: {} }))[0].message).toBe(
      'files extend each other in a circle: f.yaml → a.yaml → f.yaml',
    )
    const missing = folder({ 'f.yaml': 'name: x\nextends: no.yaml' })
    expect(errorsOf(() => loadConfig('f.yaml', { cwd: missing, env: {} }))[0]).toMatchObject({
      key: 'extends',
      message: 'no file no.yaml',
      mark: { line: 2 },
    })
    const wrong = folder({ 'f.yaml': 'extends: {a: 1}' })
    expect(errorsOf(() => loadConfig('f.yaml', { cwd: wrong, env: {} }))[0].message).toBe(
      'expected a file name or a list of file names',
    )
  })
})

describe('trainer_config_path of older files', () => {
  it('is read beside the configuration, below what the file says itself', () => {
    const files = {
      'ex/f.yaml':
        'trainer: {trainer_config_path: examples/x/train.yaml, trainer_config: {critic: {cliprange_value: 0.2}}}',
      'ex/train.yaml':
        'data: {train_batch_size: 4}\nactor_rollout_ref: {actor: {ppo_epochs: 3, grad_clip: 0.5, optim: {lr: 1e-5}}}\ncritic: {cliprange_value: 0.5, ppo_epochs: "${actor_rollout_ref.actor.ppo_epochs}"}',
    }
    const config = load(files, 'ex/f.yaml')
    expect(config.trainer).toMatchObject({ trainer_config_path: '', grad_clip: 0.5 })
    expect(config.algorithm.optimizer.lr).toBe(1e-5)
    expect(config.trainer.trainer_config).toMatchObject({
      actor_rollout_ref: { actor: { ppo_epochs: 3 } },
      critic: { cliprange_value: 0.2, ppo_epochs: 3 },
    })
  })
})

describe('--set', () => {
  it('overrides, makes and reaches into lists', () => {
    const text = 'name: a\nbuffer: {explorer_input: {tasksets: [{path: x}, {path: y}]}}'
    const set = [
      'name=b',
      'algorithm.optimizer.lr=1e-3',
      'buffer.explorer_input.tasksets[1].path=z',
      'explorer.env_vars={A: 1}',
      'project=',
    ]
    const problem = errorsOf(() => parse(text, { set }))
    expect(problem).toMatchObject([{ key: 'project', mark: { file: '--set project' } }])
    const { config } = parse(text, { set: set.slice(0, 4) }).stages[0]
    expect(config).toMatchObject({
      name: 'b',
      algorithm: { optimizer: { lr: 1e-3 } },
      explorer: { env_vars: { A: 1 } },
    })
    expect(config.buffer.explorer_input.tasksets.map((one) => one.path)).toEqual(['x', 'z'])
  })

  it('understands older names and references', () => {
    expect(parse('name: a', { set: ['explorer.api_port=9', 'project=${name}!'] }).stages[0].config).toMatchObject({
      project: 'a!',
      explorer: { proxy_port: 9 },
    })
  })

  it('refuses what is not key=value', () => expect(() => parse('name: a', { set: ['name'] })).toThrow(/key.path=value/))
})

describe('files', () => {
  it('that are missing or folders', () => {
    expect(() => loadConfig('/no/such.yaml')).toThrow(expect.objectContaining({ code: 'config/not-found' }))
    expect(() => loadConfig(tmpdir())).toThrow(/a directory/)
  })
})
