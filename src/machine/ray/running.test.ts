import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { rayCluster } from './running.js'

it('is what the configuration names, then what the variable names', async () => {
  const nowhere = { RAY_TMPDIR: '/nowhere' }
  expect(await rayCluster('head:6379', { RAY_ADDRESS: 'other:1' })).toBe('head:6379')
  expect(await rayCluster('ray://head:10001', {})).toBe('ray://head:10001')
  expect(await rayCluster('auto', { RAY_ADDRESS: 'other:1' })).toBe('other:1')
  expect(await rayCluster('http://head:8265', { RAY_ADDRESS: 'other:1' })).toBe('other:1')
  expect(await rayCluster('auto', nowhere)).toBeUndefined()
  expect(await rayCluster('local', { RAY_ADDRESS: 'other:1' })).toBeUndefined()
  await expect(rayCluster('head', {})).rejects.toMatchObject({ code: 'ray/address', path: 'cluster.ray_address' })
  await expect(rayCluster('auto', { RAY_ADDRESS: 'head' })).rejects.toMatchObject({ path: 'RAY_ADDRESS' })
})

it('is one that was started on this machine and still runs', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'trinity-ray-'))
  const env = { RAY_TMPDIR: dir }
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`
  await mkdir(join(dir, 'ray'))
  await writeFile(join(dir, 'ray', 'ray_current_cluster'), address)
  expect(await rayCluster('auto', env)).toBe(address)
  await new Promise((resolve) => server.close(resolve))
  expect(await rayCluster('auto', env)).toBeUndefined()
  await rm(dir, { recursive: true })
})
