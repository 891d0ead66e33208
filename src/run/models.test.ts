import { expect, it } from 'vitest'
import { withKeys } from '../../test/config-kit.js'
import { fixture } from '../../test/support/test-data.js'
import type { Engine } from '../engine/contract.js'
import { withClosers } from './closers.js'
import { openBase } from './models.js'

const view = { phase() {}, metrics() {}, note() {}, end() {}, close() {} }

/** What an engine is asked while the text side of a model is opened. */
async function asked(keys: Record<string, unknown>, fails = false): Promise<string[]> {
  const told: string[] = []
  const config = withKeys({
    'algorithm.algorithm_type': 'grpo',
    'model.model_path': fixture('tiny-llama'),
    'model.max_model_len': 64,
    'trainer.trainer_type': 'native',
    'explorer.rollout_model.engine_type': 'native',
    ...keys,
  })
  const engine = { begin: (what: string) => told.push(what), close: async () => told.push('closed') }
  const openEngine = async () => {
    if (fails) throw new Error('no such engine')
    return engine as unknown as Engine
  }
  await withClosers(async (closers) => {
    const signal = new AbortController().signal
    const base = await openBase({ config, startFrom: null, openEngine, engineNamed: true, view, signal, closers })
    if (fails) await expect(base.engine('native')).rejects.toThrow('no such engine')
  }).catch(() => told.push('failed'))
  return told
}

it('an engine begins while the tokenizer is read, with what will be opened', async () => {
  expect(await asked({ mode: 'both' })).toEqual(['train', 'closed'])
  expect(await asked({ mode: 'explore' })).toEqual(['sample', 'closed'])
})

it('one that cannot be opened is told where it is needed, and none stays open', async () => {
  expect(await asked({ mode: 'both' }, true)).toEqual([])
  expect(await asked({ 'model.custom_chat_template': '/no/such/template.jinja' })).toEqual([
    'train',
    'closed',
    'failed',
  ])
})

it('refuses sequences that the model is too short for, before an engine is started', async () => {
  const config = withKeys({
    'algorithm.algorithm_type': 'grpo',
    'model.model_path': fixture('tiny-llama'),
    'model.max_model_len': 129,
    'trainer.trainer_type': 'native',
    'explorer.rollout_model.engine_type': 'native',
  })
  const openEngine = () => Promise.reject(new Error('an engine was started'))
  const { signal } = new AbortController()
  const opening = withClosers((closers) =>
    openBase({ config, startFrom: null, openEngine, engineNamed: true, view, signal, closers }),
  )
  await expect(opening).rejects.toMatchObject({
    code: 'config/max-model-len',
    message: 'sequences of 129 tokens, but the model takes 128 at most',
    path: 'model.max_model_len',
  })
})
