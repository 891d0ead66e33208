import { type ChildProcess, spawn } from 'node:child_process'
import { afterEach, describe, expect, it } from 'vitest'
import type { Answered } from '../dialect/chat-model.js'
import { Gateway, type Session } from './index.js'
import { FakeModel, type FakeOptions, plain } from './plain.fixture.js'

const children: ChildProcess[] = []
let gateway: Gateway
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
  await gateway.close()
})

async function opened(fake: FakeOptions, limits = {}) {
  gateway = await Gateway.open({ dialects: [plain], limits })
  const model = new FakeModel(fake)
  const lost: Answered[] = []
  const session = gateway.session({ model, onUnanswered: (answers) => lost.push(...answers) })
  return { model, session, lost }
}

/** An agent in a process of its own that asks for a stream, says when it begins, and ends with it. */
function agent({ baseURL, apiKey }: Session): ChildProcess {
  const body = { say: 'hi', stream: true, wide: 1000 }
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${apiKey}` }
  const source = `
    const asked = require('node:http').request(${JSON.stringify(`${baseURL}/say`)}, { method: 'POST', headers: ${JSON.stringify(headers)} }, (response) => {
      process.stdout.write('begun')
      response.resume().on('end', () => process.exit(response.statusCode === 200 ? 0 : 1))
    })
    asked.end(${JSON.stringify(JSON.stringify(body))})`
  const child = spawn(process.execPath, ['-e', source], { stdio: ['ignore', 'pipe', 'inherit'] })
  children.push(child)
  return child
}

const begun = (child: ChildProcess) => new Promise((resolve) => child.stdout!.once('data', resolve))
const ended = (child: ChildProcess) => new Promise((resolve) => child.once('exit', resolve))

describe('an agent in another process', () => {
  it('that is killed in mid-stream stops the sampling, and nothing is recorded', async () => {
    const { model, session, lost } = await opened({ text: 'x'.repeat(10_000), stepMs: 5 })
    const agents = Array.from({ length: 5 }, () => agent(session))
    await Promise.all(agents.map(begun))
    for (const child of agents) child.kill('SIGKILL')
    await expect.poll(() => model.stopped, { timeout: 10_000 }).toBe(5)
    expect([model.begun, model.recorded, session.calls.length, lost.length]).toEqual([5, 0, 0, 0])
    await expect.poll(() => gateway.stats).toMatchObject({ callsInFlight: 0, errors: { 499: 5 } })
  }, 25_000)

  it('that is stopped, and goes on later, gets all; others do not wait for it', async () => {
    const { model, session } = await opened({ text: 'x'.repeat(300), stepMs: 5 }, { unreadBytes: 1000 })
    const slow = agent(session)
    await begun(slow)
    slow.kill('SIGSTOP')
    const quick = agent(session)
    expect(await ended(quick)).toBe(0)
    await expect.poll(() => model.recorded, { timeout: 10_000 }).toBe(2)
    slow.kill('SIGCONT')
    expect(await ended(slow)).toBe(0)
    await expect.poll(() => session.calls.filter(({ finished }) => finished).length).toBe(2)
  }, 25_000)
})
