import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { connect as connectPlain } from 'node:net'
import { connect, type TLSSocket } from 'node:tls'
import { afterEach, expect, it } from 'vitest'
import { newIdentity } from './certificate.js'
import { Ferry } from './ferry.js'
import { Harbor, type HarborAddress } from './harbor.js'
import { KeptProgram } from './kept-program.js'
import { Relay } from './relay.js'

const open: (() => void)[] = []
afterEach(() => {
  for (const close of open.splice(0)) close()
})

async function harbored() {
  const harbor = await Harbor.open('127.0.0.1')
  open.push(() => harbor.close())
  return harbor
}

/** As a keeper comes. */
async function come({ host, port, certificate }: HarborAddress, hello: object | string): Promise<TLSSocket> {
  const socket = connect({ host, port, ca: certificate, checkServerIdentity: () => undefined })
  socket.on('error', () => {})
  open.push(() => socket.destroy())
  await once(socket, 'secureConnect')
  socket.write(typeof hello === 'string' ? hello : `${JSON.stringify(hello)}\n`)
  return socket
}

it('a certificate of our own is one, signed with its own key', () => {
  const { certificate } = newIdentity(new Date('2030-06-01T12:34:56Z'))
  const read = new X509Certificate(certificate)
  expect(read.verify(read.publicKey)).toBe(true)
  expect(read.ca).toBe(true)
  expect(read.subject).toBe('CN=trinity')
  expect([read.validFrom, read.validTo]).toEqual(['Jun  1 12:34:56 2029 GMT', 'Jun  1 12:34:56 2031 GMT'])
  expect(newIdentity().certificate).not.toBe(certificate)
})

it('lets in whoever has the token of a worker, and nobody else', async () => {
  const harbor = await harbored()
  const heard: string[] = []
  const control = (socket: TLSSocket) => void socket.on('data', (piece) => heard.push(String(piece)))
  const address = harbor.expect('w', { control, data: control })
  const { token } = address
  const wrong: (object | string)[] = [
    { token: 'x', worker: 'w', role: 'control' },
    { token, worker: 'v', role: 'control' },
    { token, worker: 'w', role: 'other' },
    'no json\n',
    'x'.repeat(5000),
    'null\n',
  ]
  for (const hello of wrong) await once(await come(address, hello), 'close')
  await come(address, `${JSON.stringify({ token, worker: 'w', role: 'control' })}\nand what follows`)
  await expect.poll(() => heard.join('')).toBe('and what follows')
  harbor.forget('w')
  await once(await come(address, { token, worker: 'w', role: 'control' }), 'close')
})

it('speaks to nobody without TLS, and is no other Trinity', async () => {
  const harbor = await harbored()
  const address = harbor.expect('w', { control: () => {}, data: () => {} })
  const plain = connectPlain(address.port, address.host)
  plain.on('error', () => {})
  plain.write(`{"token":"${address.token}"}\n`)
  await once(plain, 'close')
  const other = { ...address, certificate: newIdentity().certificate }
  await expect(come(other, '')).rejects.toThrow('self-signed')
})

it('tells of a program what its keeper says', async () => {
  const harbor = await harbored()
  const lines: string[] = []
  const kept = new KeptProgram('n', { log: (line) => void lines.push(line), beats: true })
  const address = harbor.expect('w', { control: (socket) => kept.control(socket), data: () => {} })
  kept.leave()
  const keeper = await come(address, { token: address.token, worker: 'w', role: 'control' })
  expect(String((await once(keeper, 'data'))[0])).toBe('{"do":"leave"}\n')
  let beats = 0
  kept.beats?.on('data', () => beats++)
  keeper.write('{"pid":7}\n{"text":"one\\ntw"}\nnonsense\n{"beat":true}\n{"exit":{"code":null,"signal":"SIGKILL"}}\n')
  expect(await kept.exited).toEqual({ code: null, signal: 'SIGKILL' })
  expect([kept.pid, lines, beats]).toEqual([7, ['one', 'tw'], 1])
})

it('brings a worker to a port that only the keeper of another one reaches', async () => {
  const harbor = await harbored()
  const ferry = new Ferry()
  const quiet = { control: () => {}, data: () => {} }
  const there = harbor.expect('there', { ...quiet, dialed: (socket, ticket) => ferry.take(ticket, socket) })
  const asked: unknown[] = []
  let end = () => {}
  const exited = new Promise<void>((resolve) => {
    end = resolve
  })
  const far: TLSSocket[] = []
  const dial = async (port: number, ticket: string, waits: boolean) => {
    asked.push([port, waits])
    const guessed = await come(there, { token: there.token, worker: 'there', role: 'dialed', ticket: 'guessed' })
    await once(guessed, 'close')
    far.push(await come(there, { token: there.token, worker: 'there', role: 'dialed', ticket }))
    far[0].on('data', (piece) => far[0].write(`heard ${piece}`))
  }
  const pier = { exited, dial: (...given: Parameters<typeof dial>) => void dial(...given) }
  const here = harbor.expect('here', { ...quiet, peer: (socket) => ferry.bring(socket, pier, 7, true) })
  const worker = await come(here, { token: here.token, worker: 'here', role: 'peer' })
  worker.write('hello')
  expect(String((await once(worker, 'data'))[0])).toBe('heard hello')
  expect(asked).toEqual([[7, true]])
  end()
  await Promise.all([once(worker, 'close'), once(far[0], 'close')])
})

it('says that the head is gone where it is', async () => {
  const harbor = await harbored()
  const kept = new KeptProgram('n (10.0.0.7)', { beats: false, headIsGone: async () => true })
  const address = harbor.expect('w', { control: (socket) => kept.control(socket), data: () => {} })
  const keeper = await come(address, { token: address.token, worker: 'w', role: 'control' })
  keeper.write('{"pid":7}\n')
  await expect.poll(() => kept.pid).toBe(7)
  keeper.destroy()
  expect((await kept.exited).lost).toBe('was lost on node n (10.0.0.7): the head of Ray does not answer')
})

it('says that a program is lost when somebody knows', async () => {
  const kept = new KeptProgram('n', { beats: false })
  kept.lost('was lost with node n')
  kept.lost('again')
  expect(await kept.exited).toEqual({ code: null, signal: null, lost: 'was lost with node n' })
})

it('carries from the first of a channel to all others, who know its name', async () => {
  const harbor = await harbored()
  const relay = new Relay()
  const address = harbor.expect('w', { control: () => {}, data: (socket) => void relay.take(socket) })
  const channel = relay.open()
  const join = (hello: object) =>
    come(address, `${JSON.stringify({ token: address.token, worker: 'w', role: 'data' })}\n${JSON.stringify(hello)}\n`)
  await once(await join({ channel: 'guessed', rank: 0, size: 1 }), 'close')
  const heard = ['', '', '']
  const members = await Promise.all([1, 0, 2].map((rank) => join({ channel, rank, size: 3 })))
  for (const [i, member] of members.entries()) member.on('data', (piece) => (heard[i] += String(piece)))
  await expect.poll(() => heard.join('')).toBe('!!!')
  const weights = 'w'.repeat(300_000)
  members[1].write(weights)
  await expect.poll(() => heard.map(({ length }) => length)).toEqual([300_001, 1, 300_001])
  members[0].destroy()
  await once(members[2], 'close')
})
