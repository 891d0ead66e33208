import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { makeBench } from '../../scripts/kill-test.mjs'
import { MockService, type Seen } from '../mock-service.js'
import { cli, trinity } from './cli-kit.js'

/** Every one of them is given to the program, and none may come out of it. */
const SECRETS = {
  engine: 'sk-engine-0123',
  set: 'sk-given-with-set',
  variable: 'env-var-0123',
  environment: 'tok-from-environment',
  password: 'p@ss:w/rd#1',
  query: 'query-pass-1',
  monitor: 'monitor-key-0123',
  header: 'header-key-0123',
}
/** A part of the password is as bad as the whole. */
const PIECES = [...Object.values(SECRETS), 'p@ss', 'w/rd', 'pass-1', encodeURIComponent(SECRETS.password)]

let dir: string
let service: MockService

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'trinity-secret-'))
  await makeBench(dir, { cli, steps: 2 })
  const keys = readFileSync(join(dir, 'offset0.yaml'), 'utf8')
    .replace(/^explorer:.*$/m, '')
    .replace(/^monitor:.*$/m, '')
  writeFileSync(
    join(dir, 'secret.yaml'),
    `${keys}
explorer:
  eval_interval: 0
  eval_on_startup: false
  env_vars: {PLAIN_NAME: ${SECRETS.variable}}
  db_url: "postgresql://me:${SECRETS.password}@127.0.0.1:1/db?sslpassword=${SECRETS.query}"
  rollout_model:
    api_key: ${SECRETS.engine}
    extra_engine_args: {headers: {X-Api-Key: ${SECRETS.header}}, note: "Bearer \${oc.env:SOME_TOKEN}"}
`,
  )
  // a workflow that quotes what it should not
  writeFileSync(
    join(dir, 'plugins', 'quoting.mjs'),
    `import { workflows } from 'trinity-rft'
workflows.add('quoting_workflow', async ({ logger }) => {
  logger?.warn('quoted ' + process.env.PLAIN_NAME)
  throw new Error('401 for ' + process.env.PLAIN_NAME + ' and ' + process.env.SOME_TOKEN)
})
`,
  )
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

beforeEach(async () => {
  service = new MockService(answer)
  await service.listen()
  vi.stubEnv('SOME_TOKEN', SECRETS.environment)
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await service.close()
})

function answer({ path, body }: Seen): unknown {
  if (path === '/graphql') {
    const { query, variables } = body as { query: string; variables: Record<string, unknown> }
    const bucket = { name: variables.name, project: { name: variables.project, entity: { name: 'me' } } }
    return { data: query.includes('upsertBucket') ? { upsertBucket: { bucket } } : { model: null } }
  }
  if (path.endsWith('/experiments/get-by-name')) return { experiment: { experiment_id: '1' } }
  if (path.endsWith('/runs/create')) return { run: { info: { run_id: 'r', experiment_id: '1' } } }
  return {}
}

const run = (out: string, ...more: string[]) =>
  trinity(dir, [
    ...['run', '-c', 'secret.yaml', '--plugin-dir', 'plugins', '--set', `checkpoint_root_dir=${out}`],
    ...more,
  ])
const set = (...pairs: string[]) => pairs.flatMap((pair) => ['--set', pair])

function expectClean(text: string): void {
  for (const piece of PIECES) expect(text.includes(piece), `shows ${piece}`).toBe(false)
}

/** Everything below a folder, as text. */
function filesOf(folder: string): string {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile())
    .map((path) => readFileSync(path, 'latin1'))
    .join('\n')
}

describe('secrets stay on the machine', { timeout: 120_000 }, () => {
  it('in a dry run, however it is printed', async () => {
    for (const how of [[], ['--json'], ['--yaml']]) {
      const { code, stdout, stderr } = await run(
        'dry',
        '--dry-run',
        ...how,
        ...set(`monitor.monitor_args.api_key=${SECRETS.set}`, 'monitor.monitor_type=wandb'),
      )
      expect(code, stderr).toBe(0)
      expectClean(stdout + stderr)
      expect(stdout).toContain('postgresql://me:***@127.0.0.1:1/db?sslpassword=***')
      expect(stdout).toContain('Bearer ***')
      expect(stdout).toMatch(/PLAIN_NAME"?: "\*\*\*"/)
    }
  })

  it('when the command is wrong', async () => {
    const wrong = [
      set(`explorer.rollout_model.api_keys=${SECRETS.set}`),
      set(`explorer.proxy_port=postgresql://me:${SECRETS.password}@h/d`),
      set(`explorer.env_vars=${SECRETS.set}`),
      ['--set', SECRETS.set],
      [`--sett=explorer.rollout_model.api_key=${SECRETS.set}`],
    ]
    for (const words of wrong) {
      const { code, stdout, stderr } = await run('wrong', ...words)
      expect(code).toBe(2)
      expectClean(stdout + stderr)
    }
  })

  it('when a run fails: on the screen, with its stack, and in its folder', async () => {
    const path = `postgresql://me:${encodeURIComponent(SECRETS.password)}@127.0.0.1:1/db?password=${SECRETS.query}`
    const more = set(
      `explorer.rollout_model.api_key=${SECRETS.set}`,
      'buffer.trainer_input.experience_buffer.storage_type=sql',
      `buffer.trainer_input.experience_buffer.path="${path}"`,
    )
    for (const debug of [[], ['--debug']]) {
      const { code, stdout, stderr } = await run('fails', ...more, ...debug)
      expect(code).toBe(1)
      expect(stdout + stderr).toContain('cannot reach postgres://me:***@127.0.0.1:1/db')
      expectClean(stdout + stderr)
    }
    expectClean(filesOf(join(dir, 'fails')))
    const raw = path.replace(encodeURIComponent(SECRETS.password), SECRETS.password)
    const unread = await run('fails', ...more, ...set(`buffer.trainer_input.experience_buffer.path="${raw}"`))
    expect(unread).toMatchObject({ code: 1, stderr: expect.stringContaining('cannot be read as an address') })
    expectClean(unread.stdout + unread.stderr)
  })

  it('when a finished run says how it could go on', async () => {
    const more = set(`explorer.rollout_model.api_key=${SECRETS.set}`, 'monitor.monitor_type=none')
    expect(await run('done', ...more)).toMatchObject({ code: 0 })
    const { stdout, stderr } = await run('done', ...more)
    expect(stdout).toMatch(/nothing to do[\s\S]*explorer\.rollout_model\.api_key=\*\*\*/)
    expectClean(stdout + stderr)
  })

  it('when a workflow quotes them', async () => {
    const { code, stdout, stderr } = await run(
      'quotes',
      ...set('buffer.explorer_input.taskset.default_workflow_type=quoting_workflow', 'explorer.max_retry_times=0'),
    )
    expect(code).toBe(1)
    expectClean(stdout + stderr)
    const files = filesOf(join(dir, 'quotes'))
    expectClean(files)
    expect(files).toContain('401 for *** and ***')
  })

  it('from the wandb and MLflow services, and from the folder of the run', async () => {
    const monitors = {
      wandb: `{base_url: "${service.url}", api_key: ${SECRETS.monitor}}`,
      mlflow: `{uri: "${service.url}", username: me, password: ${SECRETS.monitor}}`,
    }
    for (const [type, args] of Object.entries(monitors)) {
      service.seen.length = 0
      const { code, stdout, stderr } = await run(
        type,
        ...set(`monitor.monitor_type=${type}`, `monitor.monitor_args=${args}`),
      )
      expect(code, stderr).toBe(0)
      expectClean(stdout + stderr)
      const sent = JSON.stringify(service.seen.map(({ path, query, body }) => [path, [...query], body]))
      expect(sent).toContain('postgresql://me:***@127.0.0.1:1/db')
      expectClean(sent)
      expectClean(filesOf(join(dir, type)))
      // the service itself gets the key, or it would let nobody in
      const auth = Buffer.from(service.seen[0].headers.authorization?.replace('Basic ', '') ?? '', 'base64')
      expect(auth.toString()).toContain(SECRETS.monitor)
    }
  })
})
