import { describe, expect, it, vi } from 'vitest'
import { stripByNode } from './node-types.js'

/** What a Node with type stripping gives for these sources, which have no types: the source itself. */
const same = (source: string) => source

describe('stripByNode', () => {
  it.each([
    ["import { a, b as c } from 'x'\na(c)", true],
    ["import d, * as n from 'x'\nd(n.a)", true],
    ["import {\n  a,\n  type,\n} from 'x'\na(type)", true],
    ["import 'x'\nimport('y')", true],
    ["import { Task } from 'x'\nlet a", false],
    ["import { Task } from 'x'\n// a Task\nlet a = 'Task' + `Task`", false],
    ["import { Task } from 'x'\nlet a = { Task: 1 }.Task", false],
    ["import d, { Task } from 'x'\nd()", false],
  ])('of %j: %s', (source, mine) => {
    expect(stripByNode(source, same)).toBe(mine ? source : undefined)
  })

  it('leaves to others what Node refuses, and what is more than types', () => {
    const refuse = () => {
      throw new SyntaxError('TypeScript enum is not supported in strip-only mode')
    }
    expect(stripByNode('enum A { B }', refuse)).toBeUndefined()
  })

  it('keeps back the warning of Node, and no other one', () => {
    const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
    stripByNode('let a', (source) => {
      process.emitWarning('experimental')
      return source
    })
    expect(warned).not.toHaveBeenCalled()
    process.emitWarning('another')
    expect(warned).toHaveBeenCalledTimes(1)
    warned.mockRestore()
  })
})
