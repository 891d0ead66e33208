import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { callTool, reactTool, toolEntry } from './tool.js'

const echo = reactTool({ name: 'echo', description: 'says it', parameters: {}, run: (args) => args })

describe('tools', () => {
  it('are listed as the chat API has them, from zod or from a JSON Schema', () => {
    const parameters = { type: 'object', properties: { at: { type: 'string' } } }
    expect(toolEntry({ ...echo, parameters }).function).toEqual({ name: 'echo', description: 'says it', parameters })
    const typed = reactTool({ ...echo, parameters: z.object({ n: z.number().describe('how many').default(2) }) })
    expect(toolEntry(typed).function.parameters).toEqual({
      type: 'object',
      properties: { n: { type: 'number', description: 'how many', default: 2 } },
    })
  })

  it('whatever a model writes as arguments is answered', async () => {
    const odd = fc.oneof(fc.string(), fc.json(), fc.constantFrom('', '{', '[]', 'null', '"x"', '{"a":1}'))
    await fc.assert(
      fc.asyncProperty(fc.constantFrom('echo', 'none'), odd, async (name, written) => {
        const { text, failed } = await callTool([echo], { name, arguments: written })
        expect(typeof text).toBe('string')
        expect(failed).toBe(text.startsWith('Error: '))
      }),
    )
  })

  it('text is read as it is, the rest as JSON', async () => {
    const said = async (value: unknown) =>
      (await callTool([{ ...echo, run: () => value }], { name: 'echo', arguments: '{}' })).text
    expect(await Promise.all(['a "b"', 3, { a: [1] }, null, undefined].map(said))).toEqual([
      'a "b"',
      '3',
      '{"a":[1]}',
      'null',
      'done',
    ])
  })
})
