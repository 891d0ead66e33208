import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { expect, test } from 'vitest'
import { TrinityError } from '../../base/error.js'
import { WorkerConnection } from './connection.js'
import { encodeFrame, type Frame, FrameReader, MAX } from './frames.js'

/** A socket that keeps what each system call would have written. */
function recorded() {
  const writes: Buffer[] = []
  const socket = new Duplex({
    read() {},
    write(chunk, _, done) {
      writes.push(chunk)
      done()
    },
    writev(chunks, done) {
      writes.push(Buffer.concat(chunks.map(({ chunk }) => chunk)))
      done()
    },
  })
  const same = () => socket
  const connection = new WorkerConnection(
    Object.assign(socket, { setNoDelay: same, ref: same, unref: same }) as unknown as Socket,
    MAX,
    1000,
  )
  connection.trust(MAX, { failed: async (error) => error as TrinityError, unanswered() {}, broken() {} })
  const framesOf = (bytes: Buffer): Frame[] => new FrameReader().push(bytes)
  return { connection, socket, writes, framesOf }
}

const turn = () => new Promise((resolve) => setImmediate(resolve))
const never = new AbortController().signal

test('requests of one turn of the event loop go out in one write, in their order', async () => {
  const { connection, socket, writes, framesOf } = recorded()
  const tensors = { prompt: Int32Array.of(1, 2, 3) }
  const answers = [0, 1, 2].map(async (i) => {
    // as agents do, which go on one after the other
    for (let k = 0; k < i; k++) await undefined
    return connection.request({ op: 'sample', args: { i }, tensors }, never)
  })
  await turn()
  expect(writes).toHaveLength(1)
  const frames = framesOf(writes[0])
  expect(frames.map(({ header }) => (header.args as { i: number }).i)).toEqual([0, 1, 2])
  expect(frames.every(({ tensors }) => tensors.get('prompt')?.data.join() === '1,2,3')).toBe(true)
  for (const { header } of frames)
    socket.push(Buffer.concat(encodeFrame({ id: header.id, ok: true, result: { was: header.id } })))
  expect((await Promise.all(answers)).map(({ result }) => result.was)).toEqual(frames.map(({ header }) => header.id))
})

test('what comes in the next turn is written by itself', async () => {
  const { connection, writes, framesOf } = recorded()
  const stop = new AbortController()
  const first = connection.request({ op: 'sample', args: {} }, stop.signal).catch((error) => error)
  await turn()
  stop.abort()
  await turn()
  expect(writes).toHaveLength(2)
  expect(framesOf(writes[1])[0].header).toEqual({ cancel: 1, tensors: [] })
  const gone = new TrinityError('engine/closed', 'gone')
  connection.fail(gone)
  expect(await first).toBe(gone)
})

test('a connection that ends before its turn does takes nothing along', async () => {
  const { connection, writes } = recorded()
  const gone = new TrinityError('engine/closed', 'gone')
  const answer = connection.request({ op: 'sample', args: {} }, never).catch((error) => error)
  connection.fail(gone)
  expect(await answer).toBe(gone)
  await turn()
  expect(writes).toHaveLength(0)
  await expect(connection.request({ op: 'sample', args: {} }, never)).rejects.toBe(gone)
})
