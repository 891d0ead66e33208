import { describe, expect, it } from 'vitest'
import { verify } from './verify.js'

describe('trying out what is no environment', () => {
  it('is an error that says so', async () => {
    await expect(verify({ python: '/nowhere/python3', device: 'cpu' })).rejects.toMatchObject({ code: 'engine/python' })
  })
})
