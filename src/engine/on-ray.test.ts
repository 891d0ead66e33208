import { afterEach, expect, it, vi } from 'vitest'
import { withKeys } from '../../test/config-kit.js'
import { onRay } from './on-ray.js'

afterEach(() => vi.unstubAllEnvs())

function context() {
  const notes: string[] = []
  return { notes, context: { note: (text: string) => void notes.push(text) } }
}

it('is this machine where no Ray is meant, and says what cannot be had there', async () => {
  const { notes, context: own } = context()
  expect(await onRay(withKeys({ 'cluster.ray_address': 'local' }), own)).toBeUndefined()
  expect(notes).toEqual([])
  const keys = { 'cluster.ray_address': 'local', 'monitor.enable_ray_timeline': true }
  expect(await onRay(withKeys(keys), own)).toBeUndefined()
  expect(notes).toEqual(['monitor.enable_ray_timeline: there is no Ray here, and no timeline of it'])
})

it('needs a Python with Ray where one is meant', async () => {
  vi.stubEnv('TRINITY_RAY_PYTHON', '/nowhere/python')
  const config = withKeys({ 'cluster.ray_address': '127.0.0.1:9' })
  await expect(onRay(config, context().context)).rejects.toMatchObject({
    code: 'ray/python',
    hint: expect.stringContaining('TRINITY_RAY_PYTHON'),
  })
})
