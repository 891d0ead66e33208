import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { askedCluster, nodeGpus } from './node-gpus.js'

it('asks the cluster that is meant, and nobody where there is none', () => {
  const dir = mkdtempSync(join(tmpdir(), 'trinity-node-gpus-'))
  const env = { RAY_TMPDIR: dir }
  expect(askedCluster('auto', env)).toBeUndefined()
  expect(nodeGpus('auto', env)).toBeUndefined()
  expect(askedCluster('auto', { ...env, RAY_ADDRESS: 'head:6379' })).toBe('head:6379')
  expect(askedCluster('local', { ...env, RAY_ADDRESS: 'head:6379' })).toBeUndefined()
  expect(askedCluster('ray://other:10001', { ...env, RAY_ADDRESS: 'head:6379' })).toBe('ray://other:10001')
  expect(askedCluster('http://head:8265', env)).toBeUndefined()
  mkdirSync(join(dir, 'ray'))
  writeFileSync(join(dir, 'ray', 'ray_current_cluster'), '10.0.0.1:6379')
  expect(askedCluster('auto', env)).toBe('auto')
  rmSync(dir, { recursive: true })
})
