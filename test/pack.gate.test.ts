import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, type TestContext } from 'vitest'
import type { Report } from '../src/machine/doctor/check.js'

/** What a user gets: the packed tarball, installed into an empty folder, by somebody who is not root where possible. */

const root = resolve(import.meta.dirname, '..')
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  version: string
  scripts: Record<string, string>
  exports: Record<string, string | { types: string; default: string }>
}
const folder = mkdtempSync(join(tmpdir(), 'trinity-pack-'))

interface Installer {
  readonly who: string
  readonly app: string
  readonly env: NodeJS.ProcessEnv
  readonly ids: { uid?: number; gid?: number }
}

interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

function start(command: string, args: readonly string[], by: Pick<Installer, 'app' | 'env' | 'ids'>): Promise<Ended> {
  return new Promise((done, fail) => {
    const child = spawn(command, args, { cwd: by.app, env: by.env, ...by.ids, timeout: 240_000 })
    let stdout = ''
    let stderr = ''
    child.stdout.on('data', (data) => {
      stdout += data
    })
    child.stderr.on('data', (data) => {
      stderr += data
    })
    child.on('error', fail)
    child.on('close', (code) => done({ code, stdout, stderr }))
  })
}

/** This process may itself run under npm, whose variables would reach the npm we start. */
function cleanEnv(home: string | undefined, cache: string | undefined): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !/^(npm_|TRINITY_|VITEST|NODE_ENV$)/.test(name))
  const registry = spawnSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' }).stdout.trim()
  return {
    ...Object.fromEntries(kept),
    NO_COLOR: '1',
    npm_config_registry: registry,
    // `npx trinity` must never fetch a package of that name from elsewhere
    npm_config_yes: 'false',
    npm_config_fetch_retries: '2',
    npm_config_fetch_retry_mintimeout: '1000',
    npm_config_update_notifier: 'false',
    ...(home && { HOME: home }),
    ...(cache && { npm_config_cache: cache }),
  }
}

function emptyFolder(name: string, ids: Installer['ids']): string {
  const path = join(folder, name)
  mkdirSync(path)
  if (ids.uid !== undefined) chownSync(path, ids.uid, ids.gid ?? ids.uid)
  return path
}

/** An ordinary user with a home and a cache of their own first, then whoever runs the tests with their cache. */
function* installers(): Generator<Installer> {
  const nobody = { uid: 65_534, gid: 65_534 }
  if (process.getuid?.() === 0 && spawnSync('npm', ['--version'], { ...nobody, cwd: '/' }).status === 0) {
    const home = emptyFolder('home', nobody)
    yield { who: 'nobody', app: emptyFolder('app', nobody), env: cleanEnv(home, join(home, 'cache')), ids: nobody }
  }
  yield { who: 'this user', app: emptyFolder('own-app', {}), env: cleanEnv(undefined, undefined), ids: {} }
}

const OFFLINE = /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ENOTCACHED|E50[0234]|network/

let tarball = ''
let packed: { size: number; unpackedSize: number; files: { path: string; size: number }[] }
let installed: Installer | undefined
let unreachable: string | undefined

beforeAll(async () => {
  if (!existsSync(join(root, 'dist', 'cli', 'main.js'))) throw new Error('dist/ is not built: npm run build')
  chmodSync(folder, 0o755)
  // without scripts: a build here would pull dist/ away under the tests that run beside this one
  const args = ['pack', '--ignore-scripts', '--json', '--pack-destination', folder]
  const pack = await start('npm', args, { app: root, env: cleanEnv(undefined, undefined), ids: {} })
  expect(pack.code, pack.stderr).toBe(0)
  const [result] = JSON.parse(pack.stdout) as [typeof packed & { filename: string }]
  packed = result
  tarball = join(folder, result.filename)
  for (const installer of installers()) {
    const command = ['install', '--prefer-offline', '--no-audit', '--no-fund', tarball]
    const { code, stderr } = await start('npm', command, installer)
    if (code === 0) {
      installed = installer
      return
    }
    if (!OFFLINE.test(stderr)) throw new Error(`npm install as ${installer.who} failed:\n${stderr}`)
    unreachable = `skipped: the package registry cannot be reached (${OFFLINE.exec(stderr)?.[0]})`
  }
}, 540_000)

afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Runs in the installed folder, or skips the test. */
function npx(context: TestContext, ...args: string[]): Promise<Ended> {
  if (!installed) context.skip(unreachable)
  return start('npx', args, installed as Installer)
}

describe('the tarball', () => {
  it('holds what runs and nothing else', () => {
    const paths = packed.files.map((file) => file.path)
    for (const path of [
      'package.json',
      'LICENSE',
      'dist/cli/main.js',
      ...Object.values(manifest.exports)
        .flatMap((target) => (typeof target === 'string' ? [target] : Object.values(target)))
        .map((path) => path.slice('./'.length)),
      'python/trinity_torch/__main__.py',
    ]) {
      expect(paths).toContain(path)
    }
    const unwanted =
      /\.test\.|\.fixture\.|(^|\/)(tests?|fixtures?|golden[^/]*)(\/|$)|__pycache__|\.pyc$|\.map$|\.tsbuildinfo$|^src\/|^bench\/|\.(tgz|db|log|node|o)$/
    // new projects have tests of their own
    expect(paths.filter((path) => unwanted.test(path) && !path.startsWith('templates/'))).toEqual([])
  })
  it('holds what its pages point to', () => {
    const paths = new Set(packed.files.map((file) => file.path))
    const pages = [...paths].filter((path) => path.endsWith('.md'))
    const targets = pages.flatMap((page) =>
      [...readFileSync(join(root, page), 'utf8').matchAll(/\]\((?!\w+:)([^)#\s]+)[^)]*\)/g)].map(([, target]) =>
        join(dirname(page), target),
      ),
    )
    expect(targets.length).toBeGreaterThan(100)
    const isThere = (target: string) => paths.has(target) || [...paths].some((path) => path.startsWith(`${target}/`))
    expect([...new Set(targets)].filter((target) => !isThere(target))).toEqual([])
  })
  it('is of sane size', () => {
    expect(packed.size).toBeLessThan(5e6)
    expect(packed.unpackedSize).toBeLessThan(20e6)
  })
})

describe('installed into an empty folder', { timeout: 120_000 }, () => {
  it('npx trinity --version', async (context) => {
    const { code, stdout, stderr } = await npx(context, 'trinity', '--version')
    expect(stderr).not.toMatch(/error/i)
    expect([code, stdout.trim()]).toEqual([0, manifest.version])
  })
  it('npx trinity doctor --json', async (context) => {
    const { code, stdout } = await npx(context, 'trinity', 'doctor', '--json')
    const report = JSON.parse(stdout) as Report
    expect(report).toMatchObject({ format: 1, trinity: manifest.version })
    expect(report.checks.find((check) => check.id === 'node')?.status).toMatch(/ok|warning/)
    expect(code).toBe(report.ok ? 0 : 1)
    const builds = manifest.scripts.install ?? manifest.scripts.postinstall
    const statusOf = (id: string) => report.checks.find((check) => check.id === id)?.status
    if (builds && statusOf('compiler') === 'ok') expect(statusOf('addon')).toBe('ok')
  })
  it('npx trinity run --dry-run', async (context) => {
    if (installed) {
      writeFileSync(join(installed.app, 'tasks.jsonl'), '{"question": "1 + 1?", "answer": "2"}\n')
      writeFileSync(join(installed.app, 'small.yaml'), SMALL)
    }
    const { code, stdout, stderr } = await npx(context, 'trinity', 'run', '--dry-run', '--config', 'small.yaml')
    expect(code, stderr).toBe(0)
    expect(stdout).toContain('packed')
    expect(stdout).toContain('grpo')
  })
  it('exits with 2 and names the key when the configuration is wrong', async (context) => {
    if (installed) writeFileSync(join(installed.app, 'wrong.yaml'), SMALL.replace('batch_size', 'batch_sise'))
    const { code, stderr, stdout } = await npx(context, 'trinity', 'run', '--dry-run', '--config', 'wrong.yaml')
    expect(code).toBe(2)
    expect(stderr + stdout).toMatch(/batch_sise[\s\S]*batch_size/)
  })
  it('is a library, too', async (context) => {
    const entries = Object.keys(manifest.exports).filter((entry) => entry !== './package.json')
    const script = entries.map((entry) => `await import('trinity-rft${entry.slice(1)}')`).join('\n')
    const { code, stderr } = await npx(context, 'node', '--input-type=module', '-e', script)
    expect([code, stderr]).toEqual([0, ''])
  })
})

const SMALL = `project: pack
name: packed
mode: both
checkpoint_root_dir: ./runs
algorithm:
  algorithm_type: grpo
  repeat_times: 4
model:
  model_path: ./model
  max_prompt_tokens: 64
  max_response_tokens: 64
buffer:
  batch_size: 2
  total_steps: 2
  explorer_input:
    taskset:
      name: tasks
      path: ./tasks.jsonl
      format:
        prompt_key: question
        response_key: answer
    default_workflow_type: math_workflow
`
