import { describe, expect, it } from 'vitest'
import { dlcNode, serveNode } from './dlc.js'

describe('who a machine is among those of a scheduler', () => {
  const env = { RANK: '1', WORLD_SIZE: '4', MASTER_ADDR: 'head', MASTER_PORT: '6379' }
  it('stands in its variables', () => {
    expect(dlcNode(env)).toEqual({ rank: 1, size: 4, host: 'head', port: 6379 })
  })
  it.each([
    ['RANK', undefined, 'is not set'],
    ['MASTER_ADDR', ' ', 'is not set'],
    ['RANK', '4', "RANK is '4'"],
    ['WORLD_SIZE', 'x', "WORLD_SIZE is 'x'"],
    ['MASTER_PORT', '70000', "MASTER_PORT is '70000'"],
    ['RANK', '-1', "RANK is '-1'"],
  ])('is an error where %s is %s', (name, value, message) => {
    expect(() => dlcNode({ ...env, [name]: value })).toThrow(message)
  })
})

it('a node that finds no head says where it looked', async () => {
  const node = { rank: 1, size: 2, host: '127.0.0.1', port: 9 }
  const settings = { python: 'none', log: () => {}, meetMs: 0 }
  await expect(serveNode(node, settings)).rejects.toMatchObject({ code: 'ray/unreachable', path: 'MASTER_ADDR' })
})
