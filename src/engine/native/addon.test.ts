import { afterEach, expect, it, vi } from 'vitest'

afterEach(() => {
  vi.unstubAllEnvs()
  vi.resetModules()
})

it('a file that the user names and that is not there is an error about that name alone', async () => {
  vi.stubEnv('TRINITY_NATIVE_ADDON', 'wsm')
  vi.resetModules()
  const { loadAddon } = await import('./addon.js')
  expect(loadAddon).toThrow(
    expect.objectContaining({
      code: 'native/load',
      message: expect.stringMatching(/^the native engine cannot be loaded: Cannot find module '.*wsm'$/),
      hint: 'TRINITY_NATIVE_ADDON names this file: correct it or unset it',
    }),
  )
})
