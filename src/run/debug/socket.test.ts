import { resolve } from 'node:path'
import { expect, it } from 'vitest'
import { debugSocket } from './socket.js'

it('is found by the file, however it is named, and short enough for a socket', () => {
  expect(debugSocket('a/../run.yaml')).toBe(debugSocket(resolve('run.yaml')))
  expect(debugSocket('run.yaml')).not.toBe(debugSocket('other.yaml'))
  expect(debugSocket('x'.repeat(300)).length).toBeLessThan(100)
})
