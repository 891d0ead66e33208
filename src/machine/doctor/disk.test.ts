import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { fakeHost } from '../../../test/fake-host.js'
import { checkDisk, describeSpace, places } from './disk.js'

const pathOf = (env: Record<string, string>, id: string) => places(fakeHost({ env })).find((p) => p.id === id)?.path

it('follows the variables of the hub in their order', () => {
  expect(pathOf({}, 'disk.hub')).toBe('/home/someone/.cache/huggingface/hub')
  expect(pathOf({ XDG_CACHE_HOME: '/x' }, 'disk.hub')).toBe('/x/huggingface/hub')
  expect(pathOf({ HF_HOME: '~/hf' }, 'disk.hub')).toBe('/home/someone/hf/hub')
  expect(pathOf({ HF_HOME: '/hf', HF_HUB_CACHE: '/cache' }, 'disk.hub')).toBe('/cache')
})

it('looks at the checkpoint folder when it is set', () => {
  expect(pathOf({}, 'disk.checkpoints')).toBeUndefined()
  expect(pathOf({ TRINITY_CHECKPOINT_ROOT_DIR: 'runs' }, 'disk.checkpoints')).toBe('/somewhere/runs')
})

it('measures the nearest folder that exists', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'trinity-disk-'))
  const host = { ...fakeHost({ env: { TRINITY_CHECKPOINT_ROOT_DIR: 'not/yet/there' } }), cwd: folder }
  const checks = await checkDisk(host)
  rmSync(folder, { recursive: true })
  const free = checks.map((check) => check.data?.freeBytes)
  expect(free[0]).toBeGreaterThan(0)
  // other processes may write meanwhile
  expect(Math.abs(Number(free[0]) - Number(free[1]))).toBeLessThan(1e9)
})

it('judges space and rights', () => {
  const place = { id: 'disk.cwd', name: 'current folder', path: '/a/b', wanted: 1e9 }
  const space = { folder: '/a', freeBytes: 5e9, writable: true }
  expect(describeSpace(place, space).status).toBe('ok')
  expect(describeSpace(place, { ...space, freeBytes: 5e8 }).status).toBe('warning')
  expect(describeSpace(place, { ...space, writable: false })).toMatchObject({
    status: 'wrong',
    found: '/a is not writable',
  })
  expect(describeSpace(place, undefined).status).toBe('wrong')
})
