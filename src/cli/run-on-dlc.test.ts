import { afterEach, expect, it, vi } from 'vitest'
import { runOnDlc } from './run-on-dlc.js'

afterEach(() => vi.unstubAllEnvs())

it('runs nothing on a machine that no scheduler has told who it is, or that has no Ray', async () => {
  const run = vi.fn()
  for (const name of ['RANK', 'WORLD_SIZE', 'MASTER_ADDR', 'MASTER_PORT']) vi.stubEnv(name, '')
  await expect(runOnDlc(run)).rejects.toMatchObject({ code: 'cli/dlc', path: 'WORLD_SIZE' })
  const known = { RANK: '0', WORLD_SIZE: '1', MASTER_ADDR: '127.0.0.1', MASTER_PORT: '1' }
  for (const [name, value] of Object.entries(known)) vi.stubEnv(name, value)
  vi.stubEnv('TRINITY_RAY_PYTHON', '/nowhere/python')
  await expect(runOnDlc(run)).rejects.toMatchObject({ code: 'cli/dlc', hint: expect.stringContaining('ray[default]') })
  expect(run).not.toHaveBeenCalled()
})
