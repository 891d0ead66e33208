import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MessageChannel } from 'node:worker_threads'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { tempDir } from '../../../test/support/temp-dir.js'
import { silent, taskOf } from '../../../test/support/workflow-kit.js'
import { parseConfig } from '../../config/index.js'
import type { SampleModel } from '../../engine/contract.js'
import { MockEngine } from '../../engine/mock/engine.js'
import { createModel } from '../../model/index.js'
import { openModelText, workflows } from '../../workflow/index.js'
import type { ContextParts } from '../contexts.js'
import { contextFactory } from '../contexts.js'
import { type Performed, type Seat, workHere } from '../workplace.js'
import type { Channel, FromWorker, ToWorker } from './protocol.js'
import { serveRollouts } from './serve.js'
import { workInWorkers } from './workplace.js'

let dir: string
let parts: ContextParts
let sampler: SampleModel

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'trinity-workers-'))
  const tokenizer = { kind: 'chars', characters: '0123456789+=' } as const
  await createModel({ out: dir, layers: 1, hidden: 16, heads: 2, maxPositions: 64, tokenizer })
  const engine = new MockEngine({ vocabSize: 24, eos: 1, maxModelLen: 64 })
  sampler = await engine.openSample({ path: 'mock' }, { seq: 1, deadlineMs: 1000 })
  const yaml = 'explorer: {rollout_model: {max_response_tokens: 6}}'
  const { config } = parseConfig(yaml, 'f.yaml', { env: {}, cwd: dir }).stages[0]
  parts = { config, model: [sampler], text: await openModelText(dir) }
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

let opened = 0

/** A worker in this thread, behind ports that copy what goes through them. */
function openHere(): Channel {
  opened++
  const { port1, port2 } = new MessageChannel()
  port1.unref()
  serveRollouts(
    {
      post: (message) => port2.postMessage(message),
      onMessage: (hear) => void port2.on('message', (message: ToWorker) => hear(message)).unref(),
    },
    async () => {},
  )
  return {
    post: (message) => port1.postMessage(message),
    onMessage: (hear) => void port1.on('message', (message: FromWorker) => hear(message)),
    onEnd() {},
    hold: (isHeld) => (isHeld ? port1.ref() : port1.unref()),
    kill: () => port1.close(),
  }
}

const signal = new AbortController().signal
const place = { run: 1, repeat: 2, attempt: 0, runner: 3 }
const jobOf = (name: string) => {
  const task = taskOf({ workflow: name, taskDesc: '1+1=', rewardFnArgs: { a: 1 } })
  return { batch: 3, kind: 'train' as const, task, taskId: 4, entry: workflows.get(name), first: 0, count: 2 }
}
const workers = () => workInWorkers(parts, () => silent, openHere)
const performOn = (seat: Seat, name: string, by = signal) => seat.perform(jobOf(name), place, by)

it('a workflow gives the same in a worker as here, to the last bit', async () => {
  workflows.add('isolated_all', async ({ model, random, run, repeat }) => {
    const streamed: number[] = []
    const experiences = await model.generate('1+1=', {}, (index, token) => void streamed.push(index, token))
    const logprobs = await model.logprobs(experiences[0].tokens)
    experiences[0].info = { logprobs, streamed, drawn: random.random(), run, repeat, version: model.version }
    return experiences
  })
  const here = await performOn(await workHere(contextFactory(parts, () => silent)).take(signal), 'isolated_all')
  const there = await performOn(await workers().take(signal), 'isolated_all')
  expect(here.experiences).toHaveLength(2)
  expect(there.experiences).toEqual(here.experiences)
  const numbers = ({ drift, diverged, sampledTokens, notes }: Performed) => [drift, diverged, sampledTokens, notes]
  expect(numbers(there)).toEqual(numbers(here))
  expect(here.sampledTokens).toBeGreaterThan(0)
})

it('an answer that is held to a format is held to it in a worker too', async () => {
  workflows.add('isolated_format', ({ model }) => model.generate('1+1=', { guided_regex: '[24]{3}' }))
  const texts = async (seat: Seat) =>
    (await performOn(seat, 'isolated_format')).experiences.map(({ responseText }) => responseText)
  const here = await texts(await workHere(contextFactory(parts, () => silent)).take(signal))
  expect(here).toEqual([expect.stringMatching(/^[24]{3}/), expect.stringMatching(/^[24]{3}/)])
  expect(await texts(await workers().take(signal))).toEqual(here)
})

it('a worker is used again after its rollout, and ended when it does not come to its end', async () => {
  workflows.add('isolated_stuck', () => new Promise(() => {}))
  workflows.add('isolated_fails', async () => {
    throw new RangeError('too far')
  })
  const before = opened
  const place = workers()
  const first = await place.take(signal)
  await expect(performOn(first, 'isolated_fails')).rejects.toMatchObject({ name: 'RangeError', message: 'too far' })
  first.leave()
  const again = await place.take(signal)
  expect(opened - before).toBe(1)
  const stuck = performOn(again, 'isolated_stuck')
  again.leave()
  await expect(stuck).rejects.toMatchObject({ code: 'workflow/worker-ended' })
  await place.take(signal)
  expect(opened - before).toBe(2)
})

it('the signal reaches the workflow with its reason', async () => {
  workflows.add(
    'isolated_waits',
    ({ signal }) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason))
      }),
  )
  const control = new AbortController()
  const work = performOn(await workers().take(signal), 'isolated_waits', control.signal)
  control.abort(new Error('enough'))
  await expect(work).rejects.toThrow('enough')
})

it('what cannot cross is told with what to do', async () => {
  workflows.add('isolated_open', async ({ model }) => {
    const [one] = await model.generate('1+1=', { n: 1 })
    one.info = { open: () => 1 }
    return one
  })
  const seat = await workers().take(signal)
  await expect(performOn(seat, 'isolated_open')).rejects.toMatchObject({ code: 'workflow/not-plain' })
  const job = { ...jobOf('isolated_open'), task: taskOf({ raw: { open: () => 1 } }) }
  await expect(seat.perform(job, place, signal)).rejects.toMatchObject({ code: 'explorer/isolation' })
  const unknown = { ...jobOf('isolated_open'), task: taskOf({ workflow: 'not_there' }) }
  await expect(seat.perform(unknown, place, signal)).rejects.toMatchObject({
    code: 'explorer/isolation',
    hint: expect.stringContaining('plugin file'),
  })
})

it('notes once what the template of the workers has no place for', async () => {
  workflows.add('isolated_tools', ({ model }) => {
    const tools = [{ type: 'function', function: { name: 'add', parameters: { type: 'object' } } }]
    return model.chat([{ role: 'user', content: '1+1=' }], { tools })
  })
  const home = await tempDir()
  await createModel({ out: home, layers: 1, hidden: 16, heads: 2, maxPositions: 2048, tokenizer: { kind: 'bytes' } })
  const engine = new MockEngine({ vocabSize: 300, eos: 1, maxModelLen: 2048 })
  const model = [await engine.openSample({ path: 'mock' }, { seq: 1, deadlineMs: 1000 })]
  const notes: string[] = []
  const text = await openModelText(home)
  const place = workInWorkers(
    { ...parts, model, text },
    () => silent,
    openHere,
    (note) => void notes.push(note),
  )
  for (const seat of [await place.take(signal), await place.take(signal)]) {
    const { experiences } = await performOn(seat, 'isolated_tools')
    expect(experiences[0].promptText).toContain('<tools>')
  }
  expect(notes).toEqual([expect.stringContaining(`${home}`)])
  await place.close()
})

it('keeps the process alive only while a worker starts or works', async () => {
  const held: boolean[] = []
  const open = (): Channel => {
    const channel = openHere()
    const hold = (isHeld: boolean) => {
      held.push(isHeld)
      channel.hold(isHeld)
    }
    return { ...channel, hold }
  }
  const place = workInWorkers(parts, () => silent, open)
  const taking = place.take(signal)
  expect(held).toEqual([true])
  const seat = await taking
  expect(held.at(-1)).toBe(false)
  const work = performOn(seat, 'isolated_all')
  expect(held.at(-1)).toBe(true)
  await work
  expect(held.at(-1)).toBe(false)
})

it('ends a worker that still starts when the run is aborted, and opens none after its end', async () => {
  let kills = 0
  const silentChannel = (): Channel => ({
    post() {},
    onMessage() {},
    onEnd() {},
    hold() {},
    kill: () => void kills++,
  })
  const place = workInWorkers(parts, () => silent, silentChannel)
  const control = new AbortController()
  const taking = place.take(control.signal)
  control.abort()
  await expect(taking).rejects.toMatchObject({ code: 'workflow/worker-ended' })
  expect(kills).toBeGreaterThan(0)
  await place.close()
  await expect(place.take(signal)).rejects.toMatchObject({ code: 'workflow/worker-ended' })
})
