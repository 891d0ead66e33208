import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { listeningLogger, MockService, type Seen } from '../../../test/mock-service.js'
import { parseConfig } from '../../config/index.js'
import { openMonitor } from '../open.js'
import { metricName } from './mlflow.js'

const dirs: string[] = []
const temporary = () => {
  dirs.push(mkdtempSync(join(tmpdir(), 'trinity-mlflow-')))
  return dirs[dirs.length - 1]
}
afterEach(() => {
  for (const dir of dirs.splice(0)) rmSync(dir, { recursive: true, force: true })
})

async function open(dir: string, args: string, role = 'trainer') {
  const yaml = `project: p\nname: n\ngroup: g\nmonitor: {monitor_type: mlflow, monitor_args: {${args}}}\n`
  const { config } = parseConfig(yaml, 'test.yaml').stages[0]
  const logger = listeningLogger()
  const whole = { ...config, monitor: { ...config.monitor, cache_dir: dir } }
  return { logger, monitor: await openMonitor({ config: whole, role, logger }) }
}

interface Batch {
  run_id: string
  metrics?: { key: string; value: number | string; step: number }[]
  params?: { key: string; value: string }[]
}

describe('mlflow', () => {
  let service: MockService
  let experiments: string[]
  beforeEach(async () => {
    experiments = []
    service = new MockService(answer)
    await service.listen()
  })
  afterEach(() => service.close())

  function answer({ path, query, body }: Seen): unknown {
    const call = path.replace('/api/2.0/mlflow/', '')
    const info = { run_id: 'r1', experiment_id: '7', artifact_uri: 'mlflow-artifacts:/7/r1/artifacts' }
    if (call === 'experiments/get-by-name') {
      return experiments.includes(query.get('experiment_name') ?? '')
        ? { experiment: { experiment_id: '7' } }
        : { status: 404, body: { error_code: 'RESOURCE_DOES_NOT_EXIST', message: 'none' } }
    }
    if (call === 'experiments/create') {
      const isNew = experiments.length === 0
      experiments.push((body as { name: string }).name)
      // somebody else was faster
      return isNew ? { status: 400, body: { error_code: 'RESOURCE_ALREADY_EXISTS', message: 'is there' } } : {}
    }
    return call === 'runs/create' || call === 'runs/get' ? { run: { info } } : {}
  }
  const batches = () => service.seen.filter(({ path }) => path.endsWith('log-batch')).map(({ body }) => body as Batch)
  const points = () =>
    batches().flatMap(({ metrics = [] }) => metrics.map(({ key, value, step }) => [step, key, value]))

  it('makes experiment and run, sends parameters, numbers and tables', async () => {
    service.failures.push(502)
    const { monitor, logger } = await open(temporary(), `uri: "${service.url}/", username: u, password: secret`)
    monitor.log({ 'eval/x/accuracy/mean@4': 0.5, bad: Number.NaN }, 1)
    monitor.log({ a: 1 }, 2)
    monitor.table('samples', [{ prompt: 'a' }], 2)
    await monitor.close()
    expect(points()).toEqual([
      [1, 'eval/x/accuracy/mean_at_4', 0.5],
      [1, 'bad', 'NaN'],
      [2, 'a', 1],
    ])
    const auth = `Basic ${Buffer.from('u:secret').toString('base64')}`
    expect(service.seen.every(({ headers }) => headers.authorization === auth)).toBe(true)
    const created = service.seen.find(({ path }) => path.endsWith('runs/create'))?.body as Record<string, unknown>
    expect(created).toMatchObject({ experiment_id: '7', run_name: 'n_trainer' })
    expect(created.tags).toContainEqual({ key: 'group', value: 'g' })
    const params = batches().flatMap(({ params: some = [] }) => some)
    expect(params).toContainEqual({ key: 'monitor.monitor_args.password', value: '***' })
    expect(params.length).toBeGreaterThan(100)
    expect(batches().every(({ params: some = [] }) => some.length <= 100)).toBe(true)
    const table = service.seen.find(({ method }) => method === 'PUT')
    expect(table?.path).toBe('/api/2.0/mlflow-artifacts/artifacts/7/r1/artifacts/samples/step_2.json')
    expect(service.seen.at(-1)?.body).toMatchObject({ run_id: 'r1', status: 'FINISHED' })
    expect(logger.lines).toContain(`info mlflow: ${service.url}/#/experiments/7/runs/r1`)
  })

  it('goes on with the same run', async () => {
    const dir = temporary()
    const first = await open(dir, `uri: "${service.url}"`)
    first.monitor.log({ a: 1 }, 1)
    first.monitor.log({ a: 2 }, 2)
    await first.monitor.close()
    const second = await open(dir, `uri: "${service.url}"`)
    second.monitor.rewind(1)
    second.monitor.log({ a: 2 }, 2)
    second.monitor.log({ a: 3 }, 3)
    await second.monitor.close()
    expect(points()).toEqual([
      [1, 'a', 1],
      [2, 'a', 2],
      [3, 'a', 3],
    ])
    expect(service.seen.filter(({ path }) => path.endsWith('runs/create'))).toHaveLength(1)
  })

  it.each([
    ['a@4', 'a_at_4'],
    ['ü(x)', '__x_'],
    ['/a//../b', '_/a/_/_/b'],
    ['x'.repeat(300), 'x'.repeat(250)],
  ])('%s → %s', (name, expected) => {
    expect(metricName(name)).toBe(expected)
  })
})
