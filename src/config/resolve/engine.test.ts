import { describe, expect, it } from 'vitest'
import { BASE, errorsOf, resolveAll, settings, withKeys } from '../../../test/config-kit.js'

const ROLLOUT = 'explorer.rollout_model.engine_type'
const TRAINER = 'trainer.trainer_type'
const GPU = { gpus: 4, pytorch: true }
const of = (keys: Record<string, unknown>, machine = {}) => {
  const { explorer, trainer } = withKeys(keys, machine)
  return [explorer.rollout_model.engine_type, trainer.trainer_type]
}
const notes = (keys: Record<string, unknown>, machine = {}) =>
  resolveAll(BASE, { set: settings(keys), ...machine }).remarks.filter(({ code }) => code === 'engine')

describe('which engines run', () => {
  it('the best that can run here', () => {
    expect(of({})).toEqual(['native', 'native'])
    expect(of({}, GPU)).toEqual(['torch', 'torch'])
    expect(of({}, { gpus: 4, pytorch: false })).toEqual(['native', 'native'])
  })

  it('as named, in any case; the side that is not named follows the other', () => {
    expect(of({ [ROLLOUT]: 'Native' }, GPU)).toEqual(['native', 'native'])
    expect(of({ [TRAINER]: 'torch' })).toEqual(['torch', 'torch'])
    expect(of({ [ROLLOUT]: 'mock' })).toEqual(['mock', 'mock'])
    expect(of({ [ROLLOUT]: 'native', [TRAINER]: 'torch' })).toEqual(['native', 'torch'])
  })

  it('the best present one for a name of existing files whose engine is not here, with one note', () => {
    for (const word of ['vllm', 'vllm_async', 'sglang']) {
      expect(of({ [ROLLOUT]: word, [TRAINER]: 'verl' }), word).toEqual(['native', 'native'])
      expect(of({ [ROLLOUT]: word, [TRAINER]: 'verl' }, GPU), word).toEqual(['torch', 'torch'])
      expect(notes({ [ROLLOUT]: word, [TRAINER]: 'verl' }), word).toHaveLength(1)
      expect(notes({ [ROLLOUT]: word, [TRAINER]: 'verl' }, GPU)[0].message).toBe(
        `this run samples with torch in place of ${word}`,
      )
    }
    expect(of({ 'model.tinker.enable': true }, GPU)).toEqual(['tinker', 'tinker'])
    expect(of({ [ROLLOUT]: 'vllm', [TRAINER]: 'torch' })).toEqual(['torch', 'torch'])
    expect(notes({})).toEqual([])
  })

  it('an alias means its engine where that can run, without a note', () => {
    expect(of({ [TRAINER]: 'verl' }, { gpus: 0, pytorch: true })).toEqual(['torch', 'torch'])
    expect(notes({ [TRAINER]: 'verl' }, GPU)).toEqual([])
  })

  it('a name that nobody knows is an error with the nearest one', () => {
    const [error] = errorsOf(() => withKeys({ [TRAINER]: 'natve' }))
    expect(error).toMatchObject({ code: 'unknown-name', key: TRAINER, hint: expect.stringContaining('native') })
  })
})
