import { describe, expect, it } from 'vitest'
import { BASE, errorsOf, resolve, resolveAll, settings, withKeys } from '../../../test/config-kit.js'

const buffer = (set: Record<string, unknown>) => withKeys(set).buffer
const main = (set: Record<string, unknown>) => buffer(set).trainer_input.experience_buffer
const SET = 'buffer.trainer_input.experience_buffer'
const GRPO = { 'algorithm.algorithm_type': 'grpo', 'algorithm.repeat_times': 8, 'buffer.batch_size': 4 }

describe('train_batch_size', () => {
  it('is batch_size × repeat_times unless set', () => {
    expect(buffer(GRPO).train_batch_size).toBe(32)
    expect(buffer({ ...GRPO, 'buffer.train_batch_size': 5 }).train_batch_size).toBe(5)
    expect(buffer({ 'algorithm.algorithm_type': 'dapo', 'buffer.batch_size': 4 }).train_batch_size).toBe(64)
  })
  it('leaves room for the experts of mix', () => {
    expect(
      buffer({
        ...GRPO,
        'algorithm.algorithm_type': 'mix',
        'buffer.batch_size': 32,
        'algorithm.sample_strategy_args': { expert_data_ratio: 0.2 },
      }).train_batch_size,
    ).toBe(320)
  })
  it('is required in mode train', () =>
    expect(errorsOf(() => buffer({ mode: 'train' }))[0].key).toBe('buffer.train_batch_size'))
  it('in mode train follows from batch_size where a file has both sides', () =>
    expect(
      buffer({ mode: 'train', 'buffer.batch_size': 6, 'algorithm.repeat_times': 4, 'algorithm.algorithm_type': 'grpo' })
        .train_batch_size,
    ).toBe(24))
})

describe('task sets', () => {
  const FILE =
    'model: {model_path: m, max_model_len: 8}\nalgorithm: {algorithm_type: grpo, repeat_times: 4}\nbuffer: {batch_size: 3, total_epochs: 2, explorer_input: '
  it('get names, places and what they inherit', () => {
    const { explorer_input: input } = resolve(
      `${FILE}{default_workflow_type: w, default_eval_workflow_type: we, default_reward_fn_type: r, tasksets: [{path: a}, {path: b, name: bb, default_workflow_type: own}], eval_tasksets: [{path: c, repeat_times: 5}]}}`,
    ).buffer
    expect(input.tasksets).toMatchObject([
      {
        name: 'taskset_0',
        index: 0,
        default_workflow_type: 'w',
        default_reward_fn_type: 'r',
        repeat_times: 4,
        is_eval: false,
        batch_size: 3,
        total_epochs: 2,
        rollout_args: { n: 4 },
      },
      { name: 'bb', index: 1, default_workflow_type: 'own' },
    ])
    expect(input.eval_tasksets).toMatchObject([
      { name: 'eval_taskset_0', default_workflow_type: 'we', repeat_times: 5, is_eval: true, rollout_args: { n: 5 } },
    ])
  })

  it('evaluation falls back to the workflow of training', () => {
    const { explorer_input: input } = resolve(
      `${FILE}{default_workflow_type: w, taskset: {path: a}, eval_tasksets: [{path: c}]}}`,
    ).buffer
    expect(input.taskset).toBeNull()
    expect(input.eval_tasksets[0].default_workflow_type).toBe('w')
  })

  it('task_selector is the old data_selector, for evaluation too', () => {
    const { explorer_input: input } = resolve(
      `${FILE}{default_workflow_type: w, taskset: {path: a, task_selector: {selector_type: shuffle}}, eval_tasksets: [{path: c, task_selector: {selector_type: random}}]}}`,
    ).buffer
    expect(input.tasksets[0]).toMatchObject({
      task_selector: null,
      data_selector: { selector_type: 'shuffle', seed: 42 },
    })
    expect(input.eval_tasksets[0].data_selector.selector_type).toBe('random')
  })

  it('selectors are checked', () => {
    const selector = (set: Record<string, unknown>) =>
      errorsOf(() =>
        buffer(
          Object.fromEntries(
            Object.entries(set).map(([key, value]) => [`buffer.explorer_input.taskset.data_selector.${key}`, value]),
          ),
        ),
      )
    expect(selector({ selector_type: 'shufle' })[0].hint).toMatch(/did you mean 'shuffle'/)
    expect(selector({ selector_type: 'difficulty_based' })[0].message).toBe(
      'difficulty_based needs exactly 2 columns, found 0',
    )
    expect(selector({ selector_type: 'shuffle', kwargs: { m: 1 } })[0].message).toBe('unknown argument')
    const chosen = buffer({
      'buffer.explorer_input.taskset.data_selector': {
        selector_type: 'difficulty_based',
        feature_keys: ['a', 'b'],
        kwargs: { m: 8 },
      },
    })
    expect(chosen.explorer_input.tasksets[0].data_selector.kwargs).toMatchObject({ m: 8, lamb: 0.2 })
    expect(selector({ selector_type: 'my.own.OldestFirst' })[0].hint).toMatch(/the path of a Python class/)
    expect(() =>
      buffer({ 'buffer.explorer_input.taskset.data_selector.selector_type': 'my.own.Shuffle' }),
    ).not.toThrow()
  })

  it('problems', () => {
    expect(errorsOf(() => resolve(`${FILE}{taskset: {path: a}, tasksets: [{path: b}]}}`))[0].message).toBe(
      'given together with tasksets',
    )
    expect(errorsOf(() => resolve(`${FILE}{}}`))[0].message).toBe('mode both needs a task set')
    expect(errorsOf(() => resolve(`${FILE}{taskset: {default_workflow_type: w}}}`))[0].key).toBe(
      'buffer.explorer_input.taskset.path',
    )
    expect(resolveAll(`${FILE}{tasksets: [{path: a}, {path: b}]}}`).remarks).toMatchObject([
      { severity: 'warning', message: 'no workflow is named for taskset_0, taskset_1' },
    ])
  })
})

describe('experience buffer', () => {
  it('is a queue unless set', () => {
    expect(main({})).toMatchObject({
      name: 'experience_buffer',
      storage_type: 'queue',
      path: '/w/Trinity-RFT/rft/buffer/experience_buffer.jsonl',
      schema_type: 'experience',
      tokenizer_path: 'm',
    })
    expect(main({ ...GRPO })?.batch_size).toBe(32)
    expect(main({ [SET]: { name: 'x', path: 'sqlite:///g.db' } })).toMatchObject({
      name: 'x',
      storage_type: 'queue',
      path: 'sqlite:///g.db',
    })
    expect(main({ [SET]: { storage_type: 'sql' } })?.path).toBe(
      'sqlite:////w/Trinity-RFT/rft/buffer/experience_buffer.db',
    )
  })

  it('lies in a database where explorer and trainer are two processes', () => {
    expect(main({ mode: 'explore' })?.path).toBe('sqlite:////w/Trinity-RFT/rft/buffer/experience_buffer.db')
    expect(main({ mode: 'train', 'buffer.train_batch_size': 3, 'buffer.total_steps': 7 })).toMatchObject({
      path: 'sqlite:////w/Trinity-RFT/rft/buffer/experience_buffer.db',
      total_steps: 7,
    })
  })

  it('a file cannot connect a running explorer and trainer', () => {
    const { stages, remarks } = resolveAll(BASE, {
      set: settings({ [SET]: { storage_type: 'file', path: 'x.jsonl' } }),
    })
    expect(stages[0].config.buffer.trainer_input.experience_buffer).toMatchObject({
      storage_type: 'queue',
      path: 'x.jsonl',
    })
    expect(remarks).toMatchObject([{ severity: 'warning', key: `${SET}.storage_type` }])
  })

  it.each(['sft', 'dpo', 'cpt'])('%s reads a file and never waits on a queue', (type) => {
    const train = { mode: 'train', 'buffer.train_batch_size': 3, 'algorithm.algorithm_type': type }
    expect(main({ ...train, [SET]: { path: 'd.jsonl' } })).toMatchObject({
      storage_type: 'file',
      schema_type: type,
      path: 'd.jsonl',
    })
    expect(main({ ...train, [SET]: { path: 'sqlite:///x.db', storage_type: 'sql' } })?.storage_type).toBe('sql')
    expect(errorsOf(() => main(train)).map((one) => one.key)).toEqual([`${SET}.path`])
    expect(errorsOf(() => main({ ...train, [SET]: { path: 'd', storage_type: 'queue' } }))[0].hint).toBe(
      'set storage_type: file or sql',
    )
  })

  it('passes the templates on', () => {
    expect(main({ 'model.custom_chat_template': 'T', 'model.enable_thinking': true })?.format).toMatchObject({
      chat_template: 'T',
      enable_thinking: true,
    })
    expect(buffer({ 'model.custom_chat_template': 'T' }).explorer_input.tasksets[0].format.chat_template).toBe('T')
  })

  it('replay functions are checked and completed', () => {
    const replay = (set: Record<string, unknown>) =>
      main({ [SET]: { replay_buffer: { enable: true, ...set } } })?.replay_buffer
    expect(replay({})).toMatchObject({ priority_fn: 'linear_decay', priority_fn_args: { decay: 2 } })
    expect(
      replay({ priority_fn: 'decay_limit_randomization', priority_fn_args: { sigma: 0.5 } })?.priority_fn_args,
    ).toMatchObject({ decay: 2, use_count_limit: 3, sigma: 0.5 })
    expect(errorsOf(() => replay({ priority_fn: 'linear' }))[0].code).toBe('unknown-name')
    expect(main({ [SET]: { replay_buffer: null } })?.replay_buffer).toBeNull()
  })
})

describe('auxiliary buffers', () => {
  const one = (set: Record<string, unknown>) =>
    buffer({ 'buffer.trainer_input.auxiliary_buffers.sft_dataset': set }).trainer_input.auxiliary_buffers.sft_dataset
  it('are data sets unless set', () => {
    expect(one({ path: 'x' })).toMatchObject({
      name: 'sft_dataset',
      storage_type: 'file',
      schema_type: 'sft',
      total_epochs: null,
      tokenizer_path: 'm',
    })
    expect(one({ path: 'sqlite:///x.db' })).toMatchObject({ storage_type: 'sql', schema_type: 'experience' })
    expect(one({ path: 'x', schema_type: 'dpo', total_epochs: 25, storage_type: 'file' })).toMatchObject({
      schema_type: 'dpo',
      total_epochs: 25,
    })
    expect(errorsOf(() => one({}))[0].key).toBe('buffer.trainer_input.auxiliary_buffers.sft_dataset.path')
  })
})

describe('pipelines', () => {
  it('raw experiences are kept beside the buffer', () => {
    const saved = (set: Record<string, unknown>) => withKeys(set).data_processor.experience_pipeline.input_save_path
    expect(saved({})).toBe('sqlite:////w/Trinity-RFT/rft/buffer/explorer_output.db')
    expect(saved({ 'data_processor.experience_pipeline.save_input': false })).toBeNull()
    expect(saved({ 'data_processor.experience_pipeline.input_save_path': 'x.jsonl' })).toBe('x.jsonl')
  })
  it('experiences go where the pipeline says, unless a trainer of the run reads another buffer', () => {
    const output = { 'data_processor.experience_pipeline.output': { name: 'o', path: 'sqlite:///o.db' } }
    const main = { 'buffer.trainer_input.experience_buffer': { name: 'm' } }
    const of = (set: Record<string, unknown>) => withKeys(set).buffer.trainer_input.experience_buffer?.name
    expect(of({ ...output })).toBe('o')
    expect(of({ ...output, ...main, mode: 'explore' })).toBe('o')
    expect(of({ ...output, ...main })).toBe('m')
    const { remarks } = resolveAll(BASE, { set: settings({ ...output, ...main }) })
    expect(remarks).toMatchObject([{ severity: 'warning', key: 'data_processor.experience_pipeline.output' }])
  })
  it('tasks go where the run reads them: to the first task set, or to the data set it learns from', () => {
    const output = (set: Record<string, unknown>) =>
      withKeys({ 'data_processor.task_pipeline.inputs': ['a.jsonl'], ...set }).data_processor.task_pipeline?.output
    expect(output({})).toMatchObject({ path: 'd', name: 'taskset_0' })
    expect(output({ 'data_processor.task_pipeline.output.path': 'x' })).toMatchObject({ path: 'x' })
    const train = { mode: 'train', 'buffer.train_batch_size': 4 }
    const data = { 'buffer.trainer_input.experience_buffer.path': 'p' }
    expect(output({ ...train, ...data, 'algorithm.algorithm_type': 'sft' })).toMatchObject({ path: 'p' })
    expect(errorsOf(() => output(train))).toMatchObject([{ key: 'data_processor.task_pipeline.output' }])
  })
  it('Data-Juicer operators learn where their service is', () => {
    const config = withKeys({
      'service.data_juicer.server_url': 'http://x',
      'data_processor.experience_pipeline.operators': [
        { name: 'data_juicer', args: { np: 2 } },
        { name: 'reward_filter' },
      ],
    })
    expect(config.data_processor.experience_pipeline.operators).toMatchObject([
      { args: { np: 2, service_config: { server_url: 'http://x' } } },
      { args: {} },
    ])
    expect(errorsOf(() => withKeys({ 'data_processor.experience_pipeline.operators': [{ args: {} }] }))[0].key).toBe(
      'data_processor.experience_pipeline.operators[0].name',
    )
  })
})

describe('rewards of a task set', () => {
  const file = (reward: string, args: string) =>
    `model: {model_path: m, max_model_len: 9}\nbuffer: {explorer_input: {default_workflow_type: w, default_reward_fn_type: ${reward}, taskset: {path: d, reward_fn_args: ${args}}}}`
  it('have their arguments checked where they stand', () => {
    expect(resolve(file('math_dapo_reward', '{cache_length: 9}')).mode).toBe('both')
    expect(errorsOf(() => resolve(file('math_dapo_reward', '{cache_lenght: 9}')))).toMatchObject([
      { key: 'buffer.explorer_input.taskset.reward_fn_args.cache_lenght', hint: 'did you mean cache_length?' },
    ])
  })
})

describe('arguments of workflows', () => {
  const text = (workflow: string, args: string) =>
    `model: {model_path: m, max_model_len: 9}\nbuffer: {explorer_input: {default_workflow_type: ${workflow}, taskset: {path: d, workflow_args: ${args}}}}`
  const key = 'buffer.explorer_input.taskset.workflow_args'

  it('are checked where a workflow says what it takes', () => {
    expect(errorsOf(() => resolve(text('math_boxed_workflow', '{with_thnik: true}')))).toMatchObject([
      { key: `${key}.with_thnik`, hint: 'did you mean with_think?' },
    ])
    expect(errorsOf(() => resolve(text('math_workflow', '{with_think: true}')))).toMatchObject([
      { key: `${key}.with_think`, hint: 'it takes no arguments' },
    ])
    expect(resolve(text('math_boxed_workflow', '{with_think: true}')).mode).toBe('both')
  })

  it('of others are theirs alone', () => {
    expect(resolve(text('of_a_plugin', '{with_thnik: true}')).mode).toBe('both')
  })
})
