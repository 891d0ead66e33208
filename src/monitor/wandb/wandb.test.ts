import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { listeningLogger, MockService, type Seen } from '../../../test/mock-service.js'
import { parseConfig } from '../../config/index.js'
import { openMonitor } from '../open.js'

interface GraphQl {
  query: string
  variables: Record<string, unknown>
}
interface Stream {
  files?: Record<string, { offset: number; content: string[] }>
  complete?: boolean
}

describe('wandb', () => {
  let dir: string
  let service: MockService
  let history: string[]

  beforeEach(async () => {
    dir = mkdtempSync(join(tmpdir(), 'trinity-wandb-'))
    history = []
    service = new MockService(answer)
    await service.listen()
    vi.stubEnv('WANDB_BASE_URL', service.url)
    vi.stubEnv('WANDB_API_KEY', 'k3y')
    vi.stubEnv('WANDB_MODE', '')
  })
  afterEach(async () => {
    vi.unstubAllEnvs()
    await service.close()
    rmSync(dir, { recursive: true, force: true })
  })

  function answer({ path, body }: Seen): unknown {
    if (path === '/graphql') {
      const { query, variables } = body as GraphQl
      if (query.includes('upsertBucket')) {
        const bucket = { name: variables.name, project: { name: variables.project, entity: { name: 'me' } } }
        return { data: { upsertBucket: { bucket, inserted: true } } }
      }
      if (query.includes('createRunFiles')) {
        const files = (variables.files as string[]).map((name) => ({
          name,
          uploadUrl: `${service.url}/upload/${name}`,
        }))
        return { data: { createRunFiles: { uploadHeaders: ['x-kind: table'], files } } }
      }
      const bucket = { historyLineCount: history.length, historyTail: JSON.stringify(history.slice(-1)) }
      return { data: { model: { bucket } } }
    }
    const lines = (body as Stream).files?.['wandb-history.jsonl']
    if (lines) history.splice(lines.offset, lines.content.length, ...lines.content)
    return {}
  }

  const config = (args = '') => {
    const yaml = `project: p\nname: n\nmonitor: {monitor_type: wandb, monitor_args: {${args}}}\n`
    const { config } = parseConfig(yaml, 'test.yaml').stages[0]
    return { ...config, monitor: { ...config.monitor, cache_dir: dir } }
  }
  const open = async (args?: string) => {
    const logger = listeningLogger()
    return { logger, monitor: await openMonitor({ config: config(args), role: 'trainer', logger }) }
  }

  it('makes a run, sends history and summary, and ends it', async () => {
    service.failures.push(500, 503)
    const { monitor, logger } = await open('api_key: other')
    monitor.rewind(-1)
    monitor.log({ 'actor/loss': 0.5, bad: Number.NaN }, 1)
    monitor.log({ 'eval/x/accuracy/mean@4': 1 }, 1)
    monitor.log({ 'actor/loss': 0.25 }, 2)
    monitor.table('samples', [{ prompt: 'a', reward: 1 }], 2)
    await monitor.close()
    const [upsert] = service.seen
    expect(upsert.headers.authorization).toBe(`Basic ${Buffer.from('api:other').toString('base64')}`)
    const { variables } = upsert.body as GraphQl
    expect(variables).toMatchObject({ project: 'p', displayName: 'n_trainer', group: 'n', tags: ['trainer'] })
    const sent = JSON.parse(variables.config as string) as Record<string, { value: Record<string, unknown> }>
    expect(sent.algorithm.value.algorithm_type).toBeTypeOf('string')
    expect(sent.monitor.value.monitor_args).toEqual({ api_key: '***' })
    expect(history).toHaveLength(3)
    expect(history[0]).toMatch(/^\{"actor\/loss":0\.5,"bad":NaN,"eval\/x\/accuracy\/mean@4":1,"_step":1,/)
    const reference = JSON.parse(history[2]).samples
    const upload = service.seen.find(({ method }) => method === 'PUT')
    expect(upload?.path).toBe(`/upload/${reference.path}`)
    expect(upload?.headers['x-kind']).toBe('table')
    expect(upload?.body).toEqual({ columns: ['prompt', 'reward'], data: [['a', 1]] })
    const streams = service.seen.filter(({ path }) => path.endsWith('/file_stream'))
    const run = variables.name as string
    expect(streams.every(({ path }) => path === `/files/me/p/${run}/file_stream`)).toBe(true)
    expect(streams.at(-1)?.body).toEqual({ complete: true, exitcode: 0 })
    expect(JSON.stringify(streams)).toContain('wandb-summary.json')
    expect(logger.lines.join('\n')).toContain(`${service.url}/me/p/runs/${run}`)
  })

  it('goes on with the same run and sends no step twice', async () => {
    const first = await open()
    for (const step of [1, 2, 3]) first.monitor.log({ a: step }, step)
    await first.monitor.close()
    const second = await open()
    second.monitor.rewind(1)
    for (const step of [2, 3, 4]) second.monitor.log({ a: step }, step)
    await second.monitor.close()
    expect(history.map((line) => JSON.parse(line)._step)).toEqual([1, 2, 3, 4])
    const names = service.seen
      .filter(({ body }) => (body as GraphQl).query?.includes('upsertBucket'))
      .map(({ body }) => (body as GraphQl).variables.name)
    expect(names[0]).toBe(names[1])
  })

  it('is told off once by a service that is away, and keeps the numbers', async () => {
    await service.close()
    const { monitor, logger } = await open()
    monitor.log({ a: 1 }, 1)
    await monitor.close()
    expect(logger.lines.filter((line) => line.includes('does not answer'))).toHaveLength(1)
    expect(logger.lines.at(-1)).toContain('1 steps were not sent')
    await service.listen()
    vi.stubEnv('WANDB_BASE_URL', service.url)
    const again = await open()
    again.monitor.rewind(1)
    await again.monitor.close()
    expect(history.map((line) => JSON.parse(line)._step)).toEqual([1])
  })

  it('says what is missing without a key', async () => {
    vi.stubEnv('WANDB_API_KEY', '')
    const { monitor, logger } = await open()
    monitor.log({ a: 1 }, 1)
    await monitor.close()
    expect(logger.lines).toEqual([expect.stringContaining('WANDB_API_KEY')])
    expect(service.seen).toEqual([])
  })
})
