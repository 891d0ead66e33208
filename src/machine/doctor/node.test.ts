import { describe, expect, it } from 'vitest'
import { blocks } from './check.js'
import { checkNode } from './node.js'

describe('checkNode', () => {
  it.each(['20.20.2', '22.1.0', 'v24.21.0', 'v26.10.0'])('%s is supported', (version) => {
    expect(checkNode(version).status).toBe('ok')
  })
  it.each(['21.7.3', '23.0.0', '27.1.0'])('%s is a warning that blocks nothing', (version) => {
    const check = checkNode(version)
    expect(check.status).toBe('warning')
    expect(blocks(check)).toBe(false)
  })
  it.each(['18.20.0', 'v8.0.0', 'nonsense'])('%s blocks', (version) => {
    expect(blocks(checkNode(version))).toBe(true)
  })
})
