import { describe, expect, it } from 'vitest'
import { fixture } from '../../test/support/test-data.js'
import { openModelDir } from '../model/dir.js'
import { factorNames, isChosen, loraTargets } from './lora-targets.js'

describe('what an adapter may sit in', () => {
  it('is every linear module of the layers, and by name the embedding and the head', async () => {
    const dir = await openModelDir(fixture('tiny-llama'))
    await dir.close()
    const all = loraTargets(dir.config, 'lm')
    const chosen = (targetModules: string[] | 'all-linear', excludeModules?: string[]) =>
      all.filter((one) => isChosen(one, { rank: 1, alpha: 1, targetModules, excludeModules })).map(({ name }) => name)
    expect(chosen('all-linear')).toHaveLength(7)
    expect(chosen('all-linear', ['q_proj'])).not.toContain('q_proj')
    expect(chosen(['lm_head', 'embed_tokens', 'v_proj'])).toEqual(['v_proj', 'embed_tokens', 'lm_head'])
    expect(all.find(({ name }) => name === 'v_proj')?.modules).toEqual([
      'model.layers.0.self_attn.v_proj',
      'model.layers.1.self_attn.v_proj',
    ])
    expect(loraTargets(dir.config, 'value').map(({ name }) => name)).not.toContain('lm_head')
    expect(factorNames('lm_head')).toEqual(['lm_head.lora_A.weight', 'lm_head.lora_B.weight'])
    expect(factorNames('model.embed_tokens')[0]).toBe('model.embed_tokens.lora_embedding_A')
  })
})
