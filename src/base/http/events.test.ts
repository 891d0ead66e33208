import fc from 'fast-check'
import { expect, it } from 'vitest'
import { serverEvents } from './events.js'

async function read(...chunks: (string | Uint8Array)[]): Promise<string[]> {
  async function* bytes() {
    for (const chunk of chunks) yield typeof chunk === 'string' ? Buffer.from(chunk) : chunk
  }
  const events: string[] = []
  for await (const data of serverEvents(bytes())) events.push(data)
  return events
}

it('reads data, and passes over comments and other fields', async () => {
  expect(await read(': hello\n\nevent: x\nid: 3\ndata: {"a":1}\n\ndata:two\ndata:  lines\n\ndata\n\n')).toEqual([
    '{"a":1}',
    'two\n lines',
    '',
  ])
})

it('does not take a cut event for a whole one', async () => {
  expect(await read('data: a\n\ndata: b\n')).toEqual(['a'])
  expect(await read('data: a\n\ndata: b')).toEqual(['a'])
})

it('reads the same events however they are cut into chunks, with each end of line', async () => {
  const events = fc.array(
    fc.string({ unit: 'grapheme' }).map((text) => text.replace(/[\r\n]/g, '')),
    { minLength: 1 },
  )
  await fc.assert(
    fc.asyncProperty(
      events,
      fc.constantFrom('\n', '\r\n', '\r'),
      fc.infiniteStream(fc.nat(7)),
      async (all, end, cuts) => {
        const bytes = Buffer.from(all.map((data) => `data: ${data}${end}${end}`).join(''))
        const chunks: Uint8Array[] = []
        for (let at = 0; at < bytes.length; ) {
          const size = (cuts.next().value ?? 0) + 1
          chunks.push(bytes.subarray(at, at + size))
          at += size
        }
        expect(await read(...chunks)).toEqual(all)
      },
    ),
  )
})
