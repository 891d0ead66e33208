import { describe, expect, it } from 'vitest'
import { JsonRpc } from './json-rpc.js'
import { OwnedProcess } from './owned-process.js'

/** Answers with what it was asked; some things it does not. */
const PEER = `
const say = (message) => console.log(JSON.stringify(message))
require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line)
  if (method === 'wrong') say({ id, error: { message: 'no such thing' } })
  else if (method === 'noise') { console.log('not JSON'); console.log('[1]'); say({ method: 'told' }); say({ id, result: params }) }
  else if (method === 'ping-first') { say({ id: 'x', method: 'ping' }); waiting = id }
  else if (method === undefined) say({ id: waiting, result: { heard: line } })
  else if (method === 'die') { console.error('last words'); process.exit(3) }
  else if (method === 'notifications/cancelled') gone = params.requestId
  else if (method === 'gone') say({ id, result: { gone } })
  else if (method !== 'silent') say({ id, result: { method, ...params } })
})
let waiting, gone`

const open = (args = ['-e', PEER]) =>
  new JsonRpc(new OwnedProcess({ command: process.execPath, args, output: 'data' }), {
    code: 'test/peer',
    name: 'the peer',
    command: 'node',
  })

describe('requests to a program', () => {
  it('are answered, whatever else it prints; several at once', async () => {
    const link = open()
    const asked = [1, 2, 3].map((n) => link.ask('echo', { n }, 5000))
    expect(await Promise.all(asked)).toEqual([1, 2, 3].map((n) => ({ method: 'echo', n })))
    expect(await link.ask('noise', { a: 1 }, 5000)).toEqual({ a: 1 })
    await expect(link.ask('wrong', {}, 5000)).rejects.toThrow('the peer says: no such thing')
    const { heard } = await link.ask('ping-first', {}, 5000)
    expect(JSON.parse(String(heard))).toMatchObject({ id: 'x', result: {} })
    link.close()
  })

  it('end at the limit and with the signal, which the program is told', async () => {
    const link = open()
    await expect(link.ask('silent', {}, 50)).rejects.toThrow("did not answer 'silent' within 0.05 s")
    const left = link.ask('silent', {}, 5000, AbortSignal.timeout(20))
    await expect(left).rejects.toThrow('timeout')
    expect(await link.ask('gone', {}, 5000)).toEqual({ gone: 2 })
    link.close()
  })

  it('fail when it ends, or is closed', async () => {
    const link = open()
    const both = await Promise.allSettled([link.ask('die', {}, 5000), link.ask('silent', {}, 5000)])
    for (const one of both)
      expect(String((one as PromiseRejectedResult).reason)).toMatch(/exit code 3[\s\S]*last words/)
    await expect(link.ask('echo', {}, 5000)).rejects.toThrow('has ended')
    const other = open()
    const asked = other.ask('silent', {}, 5000)
    other.close()
    await expect(asked).rejects.toThrow('was closed')
  })
})
