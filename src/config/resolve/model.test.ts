import { describe, expect, it } from 'vitest'
import { errorsOf, resolve, resolveAll, withKeys } from '../../../test/config-kit.js'

const T = 'buffer: {explorer_input: {taskset: {path: d, default_workflow_type: w}}}\n'
const lengths = (model: string) => {
  const { max_model_len, max_prompt_tokens, max_response_tokens, min_response_tokens } = resolve(
    `${T}model: {model_path: m, ${model}}`,
  ).model
  return [max_model_len, max_prompt_tokens, max_response_tokens, min_response_tokens]
}

describe('lengths', () => {
  it('notes that those of prompt and response have no effect on a data set', () => {
    const keys = (rest: string) =>
      resolveAll(`model: {model_path: m, max_model_len: 11, max_response_tokens: 3}\n${rest}`)
        .remarks.filter(({ code, key }) => code === 'no-effect' && key.startsWith('model.'))
        .map(({ key }) => key)
    const buffer = 'buffer: {train_batch_size: 4, trainer_input: {experience_buffer: {path: d, storage_type: file}}}'
    expect(keys(`mode: train\nalgorithm: {algorithm_type: sft}\n${buffer}`)).toEqual(['model.max_response_tokens'])
    expect(keys(T)).toEqual([])
  })
  it('(a) prompt and response that do not fit are an error with the numbers', () => {
    expect(errorsOf(() => lengths('max_model_len: 10, max_prompt_tokens: 6, max_response_tokens: 5'))[0].message).toBe(
      'max_prompt_tokens 6 + max_response_tokens 5 is more than max_model_len 10',
    )
    expect(lengths('max_model_len: 11, max_prompt_tokens: 6, max_response_tokens: 5')).toEqual([11, 6, 5, 0])
  })
  it('(b) the whole is the sum, and needs both', () => {
    expect(lengths('max_prompt_tokens: 6, max_response_tokens: 5')).toEqual([11, 6, 5, 0])
    expect(errorsOf(() => lengths('max_prompt_tokens: 6'))[0].key).toBe('model.max_model_len')
    expect(errorsOf(() => lengths('top_k: 1'))[0].key).toBe('model.max_model_len')
  })
  it('(c) halves', () => expect(lengths('max_model_len: 11')).toEqual([11, 5, 6, 0]))
  it('(d) only the response', () => {
    expect(lengths('max_model_len: 11, max_response_tokens: 3')).toEqual([11, 8, 3, 0])
    expect(lengths('max_model_len: 11, max_response_tokens: 30')).toEqual([11, 1, 10, 0])
  })
  it('(e) only the prompt', () => {
    expect(lengths('max_model_len: 11, max_prompt_tokens: 3')).toEqual([11, 3, 8, 0])
    expect(lengths('max_model_len: 11, max_prompt_tokens: 30')).toEqual([11, 10, 1, 0])
  })
  it('(f) a minimum below the maximum', () =>
    expect(lengths('max_model_len: 11, max_response_tokens: 3, min_response_tokens: 3')).toEqual([11, 8, 3, 2]))
})

describe('model', () => {
  it('is required', () =>
    expect(errorsOf(() => resolve(`${T}model: {max_model_len: 8}`))).toMatchObject([{ key: 'model.model_path' }]))

  it('the critic starts from it', () => {
    expect(withKeys({}).model.critic_model_path).toBe('m')
    expect(withKeys({ 'model.critic_model_path': 'c' }).model.critic_model_path).toBe('c')
  })

  it('chat template from a file, unless given', () => {
    const readText = (path: string) => (path === '/w/t.jinja' ? 'TEMPLATE' : undefined)
    const file = `${T}model: {model_path: m, max_model_len: 8, chat_template_path: t.jinja`
    expect(resolve(`${file}}`, { readText }).model.custom_chat_template).toBe('TEMPLATE')
    expect(resolve(`${file}}`, { readText }).explorer.rollout_model.chat_template).toBe('TEMPLATE')
    expect(resolve(`${file}, custom_chat_template: mine}`, { readText }).model.custom_chat_template).toBe('mine')
    expect(resolveAll(`${file}}`).remarks).toMatchObject([{ severity: 'warning', key: 'model.chat_template_path' }])
  })

  it('a hosted model is for bench and has a name', () => {
    const hosted = 'model: {max_model_len: 8, external_model: {enable: true'
    expect(errorsOf(() => resolve(`${T}${hosted}}}`)).map((one) => one.key)).toEqual([
      'model.external_model.enable',
      'model.external_model.model_name',
    ])
    expect(resolve(`mode: bench\n${hosted}, model_name: x}}`).explorer.rollout_model).toMatchObject({
      engine_type: 'openai',
      gpu_per_engine: 0,
    })
  })

  it('one adapter', () => {
    const config = withKeys({ 'model.lora_configs': [{ name: 'a', lora_rank: 8 }] })
    expect(config.model.lora_configs?.[0].is_dummy).toBe(true)
    expect(config.explorer.rollout_model).toMatchObject({
      enable_lora: true,
      lora_modules: [
        { lora_int_id: 1, lora_name: 'a', lora_path: '/w/Trinity-RFT/rft/dummy_lora', base_model_name: 'm' },
      ],
      lora_kwargs: {
        max_loras: 1,
        max_lora_rank: 8,
        default_lora_path: '/w/Trinity-RFT/rft/global_step_0/actor/lora_adapter',
      },
    })
    expect(errorsOf(() => withKeys({ 'model.lora_configs': [{}, {}] }))[0].key).toBe('model.lora_configs')
  })
})
