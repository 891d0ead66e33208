import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { TrinityError } from '../../../base/error.js'
import { call, construct } from './command.js'
import { Gateway, type GatewaySettings, isInterrupted } from './gateway.js'
import { JavaReference } from './value.js'

const open: { server: Server; sockets: Socket[]; gateway: Gateway }[] = []
afterEach(() => {
  for (const { server, sockets, gateway } of open.splice(0)) {
    gateway.close(new TrinityError('test/over', 'over'))
    for (const socket of sockets) socket.destroy()
    server.close()
  }
})

interface Heard {
  /** Commands as they came, without their ends. */
  readonly commands: string[]
  readonly socket: Socket
}

/** A server that is heard, and answers as the test says: with each command, or not at all. */
async function gatewayTo(
  answer: (command: string, heard: Heard) => string | undefined,
  settings: Partial<GatewaySettings> = {},
): Promise<{ gateway: Gateway; heard: Heard }> {
  const sockets: Socket[] = []
  const commands: string[] = []
  const server = createServer((socket) => {
    sockets.push(socket)
    socket.on('error', () => {})
    let rest = ''
    socket.setEncoding('utf8').on('data', (text: string) => {
      const parts = (rest + text).split(/(?<=\n)e\n/)
      rest = parts.pop() ?? ''
      for (const command of parts) {
        commands.push(command)
        const line = answer(command, { commands, socket })
        if (line !== undefined) socket.write(line)
      }
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  await once(socket, 'connect')
  const gateway = new Gateway(socket, { timeoutMs: 5000, ...settings })
  open.push({ server, sockets, gateway })
  return { gateway, heard: { commands, socket: sockets[0] } }
}

const object = new JavaReference('o1')

describe('Gateway', () => {
  it('gives the values in order, however the answers are cut', async () => {
    let bytes: Buffer | undefined
    const { gateway } = await gatewayTo((command, { commands, socket }) => {
      if (commands.length < 3) return undefined
      bytes = Buffer.from(`!ysgrün 😀\\nund\n!yi5\n!y${command.includes('long') ? `s${'x'.repeat(100_000)}` : 'v'}\n`)
      void (async () => {
        for (let at = 0; at < 30; at++) {
          socket.write((bytes as Buffer).subarray(at, at + 1))
          await sleep(1)
        }
        socket.write((bytes as Buffer).subarray(30))
      })()
      return undefined
    })
    const values = await gateway.send('three', [call(object, 'a'), call(object, 'b'), call(object, 'long')])
    expect(values).toEqual(['grün 😀\nund', 5, 'x'.repeat(100_000)])
  })

  it('does not wait for an answer before it asks the next', async () => {
    const waiting: boolean[] = []
    const { gateway, heard } = await gatewayTo(
      (_, { commands }) => (commands.length === 3 ? '!yi1\n!yi2\n!yi3\n' : undefined),
      { onWaiting: (isWaiting) => waiting.push(isWaiting) },
    )
    const both = [gateway.send('one', [call(object, 'a')]), gateway.send('two', [call(object, 'b'), call(object, 'c')])]
    expect(await Promise.all(both)).toEqual([[1], [2, 3]])
    expect(heard.commands.map((command) => command.split('\n')[2])).toEqual(['a', 'b', 'c'])
    expect(waiting).toEqual([true, false])
  })

  it('frees what is no longer needed with the next commands, and what a failed call had made', async () => {
    const { gateway, heard } = await gatewayTo((command) => {
      if (command.startsWith('i')) return '!yro7\n'
      if (command.startsWith('m')) return '!yv\n'
      if (command.includes('toString')) return '!ysjava.lang.Error: bad luck\\n\tsomewhere\n'
      return command.includes('fail') ? '!xro8\n' : '!yi1\n'
    })
    gateway.free(object)
    const failing = gateway.send('trying', [construct('a.B'), call(object, 'fail'), call(object, 'then')])
    await expect(failing).rejects.toMatchObject({
      code: 'environment/java',
      message: 'trying: java.lang.Error: bad luck',
      cause: { message: expect.stringContaining('somewhere') },
    })
    expect(await gateway.send('next', [call(object, 'x')])).toEqual([1])
    const freed = heard.commands.filter((command) => command.startsWith('m')).map((command) => command.split('\n')[2])
    expect(freed).toEqual(['o1', 'o7', 'o8'])
  })

  it('reads a list of texts at once, and frees it', async () => {
    const { gateway, heard } = await gatewayTo((command, { commands }) => {
      if (command.startsWith('m')) return '!yv\n'
      return commands.length === 1 ? '!ysboil\\nmelt\n' : '!ys\n'
    })
    expect(await gateway.texts('names', object)).toEqual(['boil', 'melt'])
    expect(await gateway.texts('names', new JavaReference('o2'))).toEqual([])
    expect(heard.commands[0]).toBe('c\nz:java.lang.String\njoin\ns\\n\nro1\n')
  })

  it.each([
    ['garbage', 'HTTP/1.1 400 Bad Request\r\n', 'environment/py4j'],
    ['an answer too many', '!yi1\n!yi2\n', 'environment/py4j'],
    ['an error without a word', '!x\n', 'environment/java'],
    ['an error that cannot be told', '!xsno such method\n', 'environment/java'],
  ])('%s is a plain error', async (_, text, code) => {
    const { gateway } = await gatewayTo(() => text)
    const first = await gateway.send('asking', [call(object, 'a')]).catch((error) => error)
    const error = Array.isArray(first) ? await gateway.send('again', [call(object, 'b')]).catch((e) => e) : first
    expect(isInterrupted(error) ? error.cause : error).toMatchObject({ code })
  })

  it('the first who waits is told that the connection is lost; the others, and those who come later, are interrupted', async () => {
    const { gateway } = await gatewayTo((_, { socket }) => void socket.destroy())
    const ends: string[] = []
    gateway.onEnd(({ code }) => ends.push(code))
    const calls = ['a', 'b', 'c'].map((name) => gateway.send(name, [call(object, name)]).catch(({ code }) => code))
    expect(await Promise.all(calls)).toEqual(['environment/connection', ...Array(2).fill('environment/interrupted')])
    const late = await gateway.send('late', [call(object, 'd')]).catch((error) => error)
    expect(isInterrupted(late)).toBe(true)
    expect(late).toMatchObject({ cause: { code: 'environment/connection' } })
    gateway.onEnd(({ code }) => ends.push(code))
    expect(ends).toEqual(['environment/connection', 'environment/connection'])
  })

  it('somebody else may know why it is lost', async () => {
    const explain = async () => new TrinityError('test/known', 'it fell asleep')
    const { gateway } = await gatewayTo((_, { socket }) => void socket.destroy(), { explain })
    await expect(gateway.send('a', [call(object, 'a')])).rejects.toMatchObject({ code: 'test/known' })
  })

  it('ends when a command is not answered in time; the time begins anew with every answer', async () => {
    const { gateway } = await gatewayTo(
      (command, { socket }) => {
        if (command.includes('never')) return undefined
        setTimeout(() => socket.write('!yi1\n'), 200 * Number(/n(\d)/.exec(command)?.[1]))
        return undefined
      },
      { timeoutMs: 500 },
    )
    const slow = gateway.send(
      'slow',
      [1, 2, 3, 4].map((n) => call(object, `n${n}`)),
    )
    expect(await slow).toEqual([1, 1, 1, 1])
    await expect(gateway.send('a step', [call(object, 'never')])).rejects.toMatchObject({
      code: 'environment/timeout',
      message: 'a step: Java did not answer within 0.5 s',
    })
  })

  it('is not late when this process was too busy to read the answer', async () => {
    const { gateway } = await gatewayTo(() => '!yi1\n', { timeoutMs: 100 })
    const asked = gateway.send('a step', [call(object, 'a')])
    await sleep(10)
    const until = performance.now() + 300
    const again = gateway.send('a step', [call(object, 'b')])
    while (performance.now() < until);
    expect(await asked).toEqual([1])
    expect(await again).toEqual([1])
  })
})
