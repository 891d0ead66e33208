import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { contextOf, modelOf, speaker, taskOf } from '../../../test/support/workflow-kit.js'
import { redact } from '../../base/secret/index.js'
import { RubricJudgeOpenaiWorkflow } from './rubric.js'

const KEY = 'sk-judge-4711-secret'
const asked: { url?: string; authorization?: string; body: string }[] = []
let replies: ((response: ServerResponse) => void)[]
const server = createServer(async (request: IncomingMessage, response) => {
  let body = ''
  for await (const part of request) body += part
  asked.push({ url: request.url, authorization: request.headers.authorization, body })
  const reply = replies.length > 1 ? replies.shift() : replies[0]
  reply?.(response)
})

beforeEach(async () => {
  asked.length = 0
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  process.env.TEST_JUDGE_URL = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/`
  process.env.TEST_JUDGE_KEY = KEY
})
afterEach(() => {
  delete process.env.TEST_JUDGE_URL
  delete process.env.TEST_JUDGE_KEY
  server.closeAllConnections()
  return new Promise((resolve) => server.close(resolve))
})

const says = (text: unknown) => (response: ServerResponse) =>
  void response.end(JSON.stringify({ choices: [{ message: { content: text } }] }))
const fails = (status: number, text: string) => (response: ServerResponse) => {
  response.statusCode = status
  response.end(text)
}

async function run(given: Record<string, unknown> = {}) {
  const workflowArgs = {
    judge_model_name: 'judge-1',
    judge_api_base_url_env: 'TEST_JUDGE_URL',
    judge_api_key_env: 'TEST_JUDGE_KEY',
    ...given,
  }
  const raw = { rubric: [{ description: 'is polite', weight: 2 }] }
  const context = contextOf(modelOf(await speaker(() => 'please')), { task: taskOf({ raw, workflowArgs }) })
  const [experience] = await new RubricJudgeOpenaiWorkflow(context).run()
  return experience
}

it('asks the service, again after it was busy, and takes a tenth of the rating', async () => {
  replies = [fails(429, 'slow down'), says('well: {"rating": 9}')]
  expect(await run()).toMatchObject({ reward: 0.9, metrics: { judge_success: 1 } })
  expect(asked).toHaveLength(2)
  expect(asked[1]).toMatchObject({ url: '/v1/chat/completions', authorization: `Bearer ${KEY}` })
  expect(JSON.parse(asked[1].body)).toMatchObject({ model: 'judge-1', stream: false })
  expect(asked[1].body).toContain('is polite')
})

it('without a rating there is no reward', async () => {
  replies = [says('fine')]
  const { reward, metrics } = await run()
  expect([reward, metrics]).toEqual([undefined, { judge_success: 0 }])
})

it('a service that refuses ends the run, once, and its words do not show the key', async () => {
  replies = [fails(401, `bad key ${KEY}`)]
  const error = (await run().catch((thrown: unknown) => thrown)) as Error & { hint: string }
  expect(error).toMatchObject({ code: 'workflow/judge', hint: 'look at the key' })
  expect(`${error.message} ${error.hint}`).not.toContain(KEY)
  expect(redact(`leak ${KEY}`)).not.toContain(KEY)
  expect(asked).toHaveLength(1)
})

it('a service that is not there ends the run at once', async () => {
  process.env.TEST_JUDGE_URL = 'http://127.0.0.1:1/v1'
  await expect(run()).rejects.toMatchObject({
    code: 'workflow/judge',
    message: expect.stringContaining('127.0.0.1:1/v1'),
    path: 'workflow_args.judge_api_base_url_env',
  })
})

it.each([
  ['judge_api_key_env', { judge_api_key_env: 'TEST_JUDGE_NOWHERE' }],
  ['judge_api_base_url_env', { judge_api_base_url_env: 'TEST_JUDGE_NOWHERE' }],
  ['judge_api_base_url_env', { judge_api_base_url_env: 'TEST_JUDGE_KEY' }],
])('a variable that is not set, or holds no address, is named: %s', async (arg, given) => {
  await expect(run(given)).rejects.toMatchObject({ code: 'workflow/args', path: `workflow_args.${arg}` })
})
