import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import fc from 'fast-check'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { Door, type Guest } from './door.js'
import { encodeFrame } from './frames.js'

const token = 'a'.repeat(64)
const frame = (header: object) => Buffer.concat(encodeFrame({ ...header }))
/** A frame with any bytes as header, and any lengths. */
function raw(header: string | Uint8Array, claims: { header?: number; payload?: bigint } = {}): Buffer {
  const bytes = Buffer.from(header as string)
  const prefix = Buffer.alloc(16)
  prefix.write('TRT1')
  prefix.writeUInt32LE(claims.header ?? bytes.length, 4)
  prefix.writeBigUInt64LE(claims.payload ?? 0n, 8)
  return Buffer.concat([prefix, bytes])
}

let door: Door
let guest: Guest | undefined
const sockets: Socket[] = []
const open = async (tokenMs?: number) => {
  door?.close()
  door = await Door.open({ token, graceMs: 1000, tokenMs })
  void door.guest.then((one) => (guest = one))
}
const peer = async (bytes?: Uint8Array) => {
  const socket = connect(door.port, '127.0.0.1')
  sockets.push(socket)
  socket.on('error', () => {})
  await once(socket, 'connect')
  if (bytes) socket.write(bytes)
  return socket
}
const turnedAway = (socket: Socket) => (socket.closed ? Promise.resolve() : once(socket.resume(), 'close'))
const worker = () => peer(Buffer.concat([frame({ event: 'token', token }), frame({ event: 'hello', protocol: 1 })]))

beforeEach(async () => {
  guest = undefined
  await open()
})
afterEach(() => {
  door.close()
  for (const socket of sockets.splice(0)) socket.destroy()
})

it('lets in who shows the token, at once or in two frames, however they arrive', async () => {
  await worker()
  expect((await door.guest).frame.header).toMatchObject({ event: 'hello', protocol: 1 })
  await open()
  const slow = await peer(frame({ event: 'token', token }))
  await new Promise((resolve) => setTimeout(resolve, 50))
  slow.write(frame({ event: 'failed' }))
  expect((await door.guest).frame.header.event).toBe('failed')
  await open()
  await peer(frame({ event: 'hello', token }))
  expect((await door.guest).frame.header.event).toBe('hello')
})

const hostile: [string, Buffer][] = [
  ['a token of as many letters and more bytes', frame({ token: 'é'.repeat(64) })],
  ['a token with half a surrogate', raw(`{"token":"${'\\ud800'.repeat(64)}"}`)],
  ['a token that is another one', frame({ token: 'b'.repeat(64) })],
  ['a token that is a prefix', frame({ token: 'a'.repeat(63) })],
  ...[64, null, true, [], [token], { length: 64 }, undefined].map((one): [string, Buffer] => [
    `a token that is ${JSON.stringify(one)}`,
    frame({ token: one }),
  ]),
  ['the name of a property', raw('{"__proto__":{"token":"a"},"constructor":1}')],
  ['no frames', Buffer.from('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')],
  ['a header of 4 GB', raw('{', { header: 0xffffffff })],
  ['a header of 64 MiB', raw('{', { header: 64 << 20 })],
  ['a payload of 16 EB', raw('{}', { payload: 0xffffffffffffffffn })],
  ['a payload', raw('{"tensors":[{"name":"a","dtype":"u8","shape":[8]}]}', { payload: 8n })],
  ['an empty header', raw('')],
  ['no JSON', raw('{"token":')],
  ['no UTF-8', raw(Uint8Array.of(0x7b, 0xff, 0xfe, 0x7d))],
  ['a list', raw('[]')],
  ['null', raw('null')],
  ['deep lists', raw(`{"token":${'['.repeat(30_000)}${']'.repeat(30_000)}}`)],
  ['deep objects', raw('{"a":'.repeat(12_000) + '1' + '}'.repeat(4000))],
  ['tensors that are none', raw('{"tensors":{"length":1e9}}')],
  ['a tensor of any size', raw('{"tensors":[{"name":"a","dtype":"f32","shape":[1e308,1e308,0]}]}')],
  ['many frames', Buffer.concat(Array.from({ length: 1000 }, () => frame({})))],
]
it.each(hostile)('turns away %s, and the worker comes after', async (_, bytes) => {
  await turnedAway(await peer(bytes))
  expect(guest).toBeUndefined()
  await worker()
  expect((await door.guest).frame.header.event).toBe('hello')
})

it('survives any bytes', async () => {
  const header = fc.oneof(
    fc.json(),
    fc
      .record({ token: fc.anything(), event: fc.anything(), tensors: fc.anything() })
      .map((one) => JSON.stringify(one, plain)),
    fc.uint8Array({ maxLength: 200 }),
  )
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 500 }),
    header.map((one) => raw(one)),
    fc
      .tuple(header, fc.nat(0xffffffff), fc.bigInt(0n, 0xffffffffffffffffn))
      .map(([one, h, p]) => raw(one, { header: h, payload: p })),
    fc
      .array(
        header.map((one) => raw(one)),
        { maxLength: 5 },
      )
      .map((all) => Buffer.concat(all)),
  )
  await fc.assert(
    fc.asyncProperty(bytes, async (one) => {
      const socket = await peer()
      socket.end(one)
      await turnedAway(socket)
      expect(guest).toBeUndefined()
    }),
    { numRuns: 200 },
  )
  await worker()
  expect((await door.guest).frame.header.event).toBe('hello')
})

it('turns away who says nothing, or one byte after the other', async () => {
  await open(200)
  const [silent, slow] = [await peer(), await peer()]
  const dribble = setInterval(() => slow.write('T'), 20)
  const begin = performance.now()
  await Promise.all([turnedAway(silent), turnedAway(slow)])
  clearInterval(dribble)
  expect(performance.now() - begin).toBeLessThan(5000)
  await worker()
  expect((await door.guest).frame.header.event).toBe('hello')
})

it('keeps a few of many that say nothing, and hears the worker among them', async () => {
  const many = await Promise.all(Array.from({ length: 300 }, () => peer(Buffer.from('TRT1'))))
  await expect.poll(() => many.filter((socket) => socket.resume().closed).length).toBeGreaterThanOrEqual(268)
  await worker()
  expect((await door.guest).frame.header.event).toBe('hello')
  await Promise.all(many.map(turnedAway))
})

it('gives a worker that has shown its token the time it needs, and lets nobody else in', async () => {
  await open(150)
  const socket = await peer(frame({ event: 'token', token }))
  await new Promise((resolve) => setTimeout(resolve, 400))
  const late = connect(door.port, '127.0.0.1')
  const [error] = await once(late, 'error')
  expect(error).toMatchObject({ code: 'ECONNREFUSED' })
  socket.write(frame({ event: 'hello' }))
  expect((await door.guest).frame.header.event).toBe('hello')
})

function plain(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value
}
