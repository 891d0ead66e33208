import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest'
import { torchTestPython } from '../../../test/support/python.js'
import { thisMachine } from '../../machine/ground/this-machine.js'
import type { Call, Row } from '../contract.js'
import { TorchEngine } from './engine.js'
import { type GroupSettings, WorkerGroup } from './group.js'
import type { TorchOptions } from './options.js'

const python = torchTestPython()
let seq = 0
const call = (more: Partial<Call> = {}): Call => ({ seq: ++seq, deadlineMs: 60_000, ...more })
const row = (id: string, length: number): Row => ({
  id,
  tokens: new Int32Array(length).fill(1),
  start: 1,
  mask: new Uint8Array(length - 1).fill(1),
  temperature: 1,
  columns: {},
})
const batch = { rows: [row('a', 3), row('b', 5)], tokenBudget: 64 }
const want = { scores: ['logprob'] as const }

/** Workers that are real, with models that are not: see python/tests/fake.py. The model's path asks for trouble. */
const engines: TorchEngine[] = []
const engine = (options: TorchOptions = {}) => {
  const one = new TorchEngine({ python: python.path, device: 'cpu', ...options }, 'tests.fake')
  engines.push(one)
  return one
}
afterEach(async () => {
  vi.unstubAllEnvs()
  await Promise.all(engines.splice(0).map((one) => one.close()))
})

describe.skipIf(python.absent)(`torch workers${python.note}`, () => {
  /** For tests after which the workers live on. */
  const lasting = new TorchEngine({ python: python.path, device: 'cpu' }, 'tests.fake')
  afterAll(() => lasting.close())

  it('say what they are, and answer', async () => {
    const one = lasting
    const hello = await one.start(call())
    expect(hello.device.type).toBe('cpu')
    expect(hello.versions.torch).toMatch(/^\d+\.\d+/)
    const model = await one.openTrain({ path: 'x' }, call())
    expect(await model.forward(batch, want, call())).toEqual([
      { id: 'a', logprob: new Float32Array(2).fill(0) },
      { id: 'b', logprob: new Float32Array(4).fill(1) },
    ])
    expect(model.info.architecture).toBe('Fake')
    expect(model.memory().weights).toBe(4)
    await model.close()
    await expect(model.forward(batch, want, call())).rejects.toMatchObject({ code: 'engine/closed' })
  }, 60_000)

  it('answer errors with errors, with their log where it tells more, and live on', async () => {
    const one = lasting
    await expect(one.openTrain({ path: 'absent' }, call())).rejects.toMatchObject({
      code: 'engine/model',
      path: 'absent',
    })
    const memory = await one.openTrain({ path: 'memory' }, call())
    await expect(memory.forward(batch, want, call())).rejects.toMatchObject({
      code: 'engine/memory',
      hint: expect.stringContaining('trainer.max_token_len_per_gpu'),
    })
    const bug = await one.openTrain({ path: 'bug' }, call())
    await expect(bug.forward(batch, want, call())).rejects.toMatchObject({
      code: 'engine/torch',
      cause: { message: expect.stringContaining('ZeroDivisionError: a fault of ours') },
    })
    expect(await one.openScore({ path: 'x' }, call())).toBeDefined()
  }, 60_000)

  it('stop at a deadline or when the call is aborted, and live on', async () => {
    const one = lasting
    const slow = await one.openScore({ path: 'slow' }, call())
    await expect(slow.forward(batch, want, call({ deadlineMs: 300 }))).rejects.toMatchObject({
      code: 'engine/deadline',
    })
    const control = new AbortController()
    const asked = slow.forward(batch, want, call({ signal: control.signal }))
    setTimeout(() => control.abort(new Error('enough')), 300)
    await expect(asked).rejects.toThrow('enough')
    expect(await (await one.openScore({ path: 'x' }, call())).forward(batch, want, call())).toHaveLength(2)
  }, 60_000)

  it('that do not hear are ended, and the next call says so', async () => {
    const one = engine({ graceMs: 300 })
    const deaf = await one.openScore({ path: 'deaf' }, call())
    await expect(deaf.forward(batch, want, call({ deadlineMs: 200 }))).rejects.toMatchObject({
      code: 'engine/deadline',
    })
    await expect(deaf.forward(batch, want, call())).rejects.toMatchObject({
      code: 'engine/worker-hung',
      hint: expect.stringContaining('last checkpoint'),
    })
  }, 60_000)

  it('that die are told with exit code and last lines, and so is every later call', async () => {
    const one = engine()
    const dies = await one.openScore({ path: 'die' }, call())
    const death = {
      code: 'engine/worker-died',
      message: expect.stringContaining('exit code 9'),
      cause: { message: expect.stringContaining('about to die') },
    }
    await expect(dies.forward(batch, want, call())).rejects.toMatchObject(death)
    await expect(dies.forward(batch, want, call())).rejects.toMatchObject(death)
    await expect(one.openScore({ path: 'x' }, call())).rejects.toMatchObject(death)
  }, 60_000)

  it('whose device is lost end after they have said so', async () => {
    const one = engine()
    const lost = await one.openScore({ path: 'lost' }, call())
    await expect(lost.forward(batch, want, call())).rejects.toMatchObject({ code: 'engine/device' })
    await expect
      .poll(async () => lost.forward(batch, want, call()).catch(({ code }) => code))
      .toBe('engine/worker-died')
  }, 60_000)

  describe('of several ranks', () => {
    const two = new TorchEngine({ python: python.path, device: 'cpu', devices: 2 }, 'tests.fake')
    afterAll(() => two.close())

    it('do the same and answer once', async () => {
      const one = two
      const model = await one.openTrain({ path: 'x' }, call())
      expect(await model.forward(batch, want, call())).toHaveLength(2)
      const slow = await one.openTrain({ path: 'slow' }, call())
      await expect(slow.forward(batch, want, call({ deadlineMs: 300 }))).rejects.toMatchObject({
        code: 'engine/deadline',
      })
      expect(await model.forward(batch, want, call())).toHaveLength(2)
    }, 60_000)

    it('share the error of one', async () => {
      const one = two
      const model = await one.openTrain({ path: 'memory@1' }, call())
      await expect(model.forward(batch, want, call())).rejects.toMatchObject({ code: 'engine/memory' })
      expect(await (await one.openTrain({ path: 'x' }, call())).forward(batch, want, call())).toHaveLength(2)
    }, 60_000)

    it('end when one fails and the others wait for it where they cannot be told', async () => {
      vi.stubEnv('TRINITY_TORCH_GRACE', '0.5')
      const one = engine({ devices: 2 })
      const model = await one.openTrain({ path: 'uneven' }, call())
      await expect(model.forward(batch, want, call())).rejects.toMatchObject({
        code: 'engine/memory',
        message: expect.stringContaining('rank 1'),
        hint: expect.stringContaining('max_token_len_per_gpu'),
      })
    }, 60_000)

    it.each([0, 1])(
      'end when rank %i is stopped and the other waits for it',
      async (rank) => {
        const one = engine({ devices: 2, timeoutMs: 3000 })
        const model = await one.openTrain({ path: `stop@${rank}` }, call())
        await expect(model.forward(batch, want, call())).rejects.toMatchObject({
          code: 'engine/worker-hung',
          message: expect.stringMatching(`^torch worker ${rank} gave no sign of life for [34] s`),
          path: 'trainer.trainer_config.actor_rollout_ref.nccl_timeout',
          hint: expect.stringContaining('SIGSTOP'),
        })
      },
      60_000,
    )

    it('end when one lives and does not come', async () => {
      vi.stubEnv('TRINITY_TORCH_GRACE', '0.5')
      const one = engine({ devices: 2, timeoutMs: 2000 })
      const model = await one.openTrain({ path: 'late@1' }, call())
      await expect(model.forward(batch, want, call())).rejects.toMatchObject({
        code: 'engine/worker-hung',
        message: expect.stringMatching(/the other ranks did not come within the time limit.*rank 0/),
        hint: expect.stringContaining('nccl_timeout'),
      })
    }, 60_000)

    it('end together when one dies', async () => {
      const one = engine({ devices: 2 })
      const model = await one.openTrain({ path: 'die@1' }, call())
      await expect(model.forward(batch, want, call())).rejects.toMatchObject({
        code: 'engine/worker-died',
        message: expect.stringContaining('worker 1 ended with exit code 9'),
      })
    }, 60_000)
  })
})

describe('workers that cannot start', () => {
  const dir = mkdtempSync(join(tmpdir(), 'trinity-group-'))
  afterAll(() => rmSync(dir, { recursive: true }))
  const never = new AbortController().signal
  const script = (name: string, text: string) => {
    const path = join(dir, name)
    writeFileSync(path, `#!/bin/sh\n${text}\n`, { mode: 0o755 })
    return path
  }
  const start = ({ python, ...settings }: Partial<GroupSettings> & { python: string }) =>
    WorkerGroup.start({ ground: thisMachine(python), world: 1, device: 'cpu', ...settings }, never)

  it('because there is no Python', async () => {
    await expect(start({ python: join(dir, 'nowhere') })).rejects.toMatchObject({
      code: 'engine/python',
      hint: expect.stringContaining('trinity setup torch'),
    })
  })
  it('because they end at once', async () => {
    const python = script('broken', 'echo no module named anything >&2; exit 3')
    await expect(start({ python })).rejects.toMatchObject({
      code: 'engine/worker-died',
      message: 'torch worker 0 ended with exit code 3',
      cause: { message: expect.stringContaining('no module named anything') },
    })
  })
  it('because they never say anything', async () => {
    const python = script('silent', 'echo thinking; sleep 100')
    await expect(start({ python, startMs: 300 })).rejects.toMatchObject({
      code: 'engine/worker-hung',
      cause: { message: expect.stringContaining('thinking') },
    })
  })
  it('because nobody waits for them any more', async () => {
    const python = script('slow', 'sleep 100')
    const settings = { ground: thisMachine(python), world: 1, device: 'cpu' } as const
    await expect(WorkerGroup.start(settings, AbortSignal.timeout(100))).rejects.toThrow(/timeout/)
  })

  /** A worker of another release, or somebody else who found the port. */
  const impostor = (name: string, hello: object, token?: string) => {
    const file = join(dir, `${name}.mjs`)
    writeFileSync(
      file,
      `import { connect } from 'node:net'
const { TRINITY_TORCH_CONNECT: at, TRINITY_TORCH_TOKEN: own } = process.env
const hello = Buffer.from(JSON.stringify({ ...${JSON.stringify(hello)}, token: ${token ? `'${token}'` : 'own'} }))
const prefix = Buffer.alloc(16)
prefix.write('TRT1')
prefix.writeUInt32LE(hello.length, 4)
const socket = connect(Number(at.split(':')[1]), at.split(':')[0])
socket.on('close', () => { console.log('turned away'); process.exitCode = 4 })
socket.write(Buffer.concat([prefix, hello]))
`,
    )
    return script(name, `exec ${process.execPath} ${file}`)
  }
  it('because they speak another protocol', async () => {
    const python = impostor('newer', { event: 'hello', protocol: 99, world: 1 })
    await expect(start({ python })).rejects.toMatchObject({ code: 'engine/version' })
  })
  it('because of what they say themselves', async () => {
    const error = { code: 'engine/version', message: 'torch 1.0 is too old', hint: 'run: trinity setup torch' }
    await expect(start({ python: impostor('old', { event: 'failed', error }) })).rejects.toMatchObject(error)
  })
  it.each(['guess', 'é'.repeat(64)])('without the token (%s)', async (guess) => {
    const python = impostor('stranger', { event: 'hello', protocol: 1, world: 1 }, guess)
    await expect(start({ python })).rejects.toMatchObject({
      code: 'engine/worker-died',
      cause: { message: expect.stringContaining('turned away') },
    })
  })
})
