import { describe, expect, it } from 'vitest'
import { testPython } from '../../../test/support/python.js'
import { thisMachine } from '../../machine/ground/this-machine.js'
import { OwnedServer } from './owned-server.js'
import { ScriptedServer } from './scripted.fixture.js'

const python = testPython()

/** Its health is whether the address answers. */
class Answering extends ScriptedServer {
  override async health(): Promise<void> {
    await fetch(this.url)
  }
}

const server = (module: string) =>
  new OwnedServer(
    {
      title: 'Test',
      ground: thisMachine(python.path),
      wish: { group: 'rollout', of: 1, index: 0, gpu: false },
      python: python.path,
      module,
      args: (port) => [String(port), '--bind', '127.0.0.1', '--directory', '/tmp/'],
      newApi: (url) => new Answering(url),
    },
    0,
  )
const signal = () => AbortSignal.timeout(20_000)
const lives = (pid: number) => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

describe.skipIf(python.absent)(`a server that is started here${python.note}`, () => {
  it('says when it is lost, starts anew, and ends with its owner', async () => {
    const owned = server('http.server')
    const lost = new Promise<string>((resolve) => {
      owned.onLost = resolve
    })
    await owned.open(signal())
    const first = owned.pid as number
    process.kill(first, 'SIGKILL')
    expect(await lost).toBe('was ended by SIGKILL')
    const api = await owned.open(signal())
    await api.health({})
    const second = owned.pid as number
    expect(second).not.toBe(first)
    await owned.close()
    expect(lives(second)).toBe(false)
  }, 60_000)

  it('that ends before it answers is an error with its last lines', async () => {
    await expect(server('no_such_module').open(signal())).rejects.toMatchObject({
      code: 'engine/server',
      message: 'Test server 0 ended with exit code 1 before it was ready',
      cause: { message: expect.stringContaining('no_such_module') },
    })
  }, 60_000)
})
