import { describe, expect, it } from 'vitest'
import { checkEngine, openEngine } from './open.js'

describe('opening an engine', () => {
  it('opens those that are here', async () => {
    for (const name of ['native', 'mock', 'torch']) {
      const engine = await openEngine(name)
      expect(engine.name).toBe(name)
      await engine.close()
    }
  })

  it('knows the name that older configurations have for torch', async () => {
    expect((await openEngine('verl')).name).toBe('torch')
  })

  it('says of one that a configuration may name what to use instead', () => {
    for (const name of ['vllm', 'sglang', 'tinker', 'external', 'openai']) {
      expect(() => checkEngine(name)).toThrowError(
        expect.objectContaining({ code: 'config/engine', hint: expect.stringContaining('native') }),
      )
    }
  })

  it('suggests the nearest name', async () => {
    await expect(openEngine('natve')).rejects.toMatchObject({ hint: expect.stringContaining("'native'") })
  })
})
