// What users get, tried: publishes the packages of a folder (scripts/release.mjs --pack) into a registry of its own and
// installs trinity-rft from it into empty folders with every package manager, with and without scripts, where no compiler
// is in reach; in each the engine has to come from the package, and the quick start has to run. Then a project is created,
// installed and tested with each. `node scripts/try-install.mjs DIR [manager …]`
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from './native-units.mjs'

/** What each runs in an empty folder that has a package.json. */
const installs = {
  npm: ['npm', 'install', 'trinity-rft'],
  'npm-no-scripts': ['npm', 'install', '--ignore-scripts', 'trinity-rft'],
  pnpm: ['pnpm', 'add', 'trinity-rft'],
  yarn: ['yarn', 'add', 'trinity-rft'],
  bun: ['bun', 'add', 'trinity-rft'],
}
/** What each runs to make a project `made`; npm alone keeps options for itself. */
const creates = {
  npm: ['npm', 'create', '--yes', 'trinity', 'made', '--'],
  pnpm: ['pnpm', 'create', 'trinity', 'made'],
  yarn: ['yarn', 'create', 'trinity', 'made'],
  bun: ['bun', 'create', 'trinity', 'made'],
}
const [packed, ...asked] = process.argv.slice(2)
const chosen = asked.length ? asked : Object.keys(installs)
if (!packed || chosen.some((name) => !(name in installs))) {
  console.error(`usage: node scripts/try-install.mjs DIR [${Object.keys(installs).join(' | ')} …]`)
  process.exit(2)
}

function must(what, command, args, options) {
  const ended = spawnSync(command, args, { encoding: 'utf8', ...options })
  if (ended.status !== 0) throw new Error(`${what} failed (${ended.status})\n${ended.stdout}\n${ended.stderr}`)
  return ended.stdout
}

/** The registry and the package managers, installed once. */
function tools() {
  const folder = join(build, 'install-tools')
  if (!existsSync(join(folder, 'node_modules', '.bin', 'verdaccio'))) {
    mkdirSync(folder, { recursive: true })
    // One of verdaccio's packages names a tag that mirrors do not carry.
    writeFileSync(join(folder, 'package.json'), '{"private": true, "overrides": {"node-fetch": "2.7.0"}}')
    must('installing the tools', 'npm', ['install', 'verdaccio@6', 'pnpm@10', 'yarn@1', 'bun@1'], { cwd: folder })
  }
  return join(folder, 'node_modules', '.bin')
}

function freePort() {
  return new Promise((done) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address()
      server.close(() => done(port))
    })
  })
}

/** Our packages are its own; all others come from the registry that npm is set to. */
async function startRegistry(bin, scratch) {
  const upstream = must('npm config', 'npm', ['config', 'get', 'registry']).trim()
  const own = { access: '$all', publish: '$all' }
  const config = join(scratch, 'registry.yaml')
  const settings = {
    storage: join(scratch, 'storage'),
    uplinks: { upstream: { url: upstream, timeout: '120s' } },
    packages: {
      'trinity-rft': own,
      'create-trinity': own,
      '@trinity-rft/*': own,
      '**': { access: '$all', proxy: 'upstream' },
    },
    max_body_size: '20mb',
    log: { type: 'stdout', level: 'error' },
  }
  writeFileSync(config, JSON.stringify(settings)) // JSON is YAML
  const url = `http://127.0.0.1:${await freePort()}/`
  const child = spawn(join(bin, 'verdaccio'), ['--config', config, '--listen', url], { stdio: 'inherit' })
  for (let left = 120; left > 0; left--) {
    const answer = await fetch(`${url}-/ping`).catch(() => undefined)
    if (answer?.ok) return { url, child }
    await new Promise((done) => setTimeout(done, 1000))
  }
  child.kill()
  throw new Error('the registry did not start')
}

/** A PATH with Node, a shell and the package managers, and no compiler. */
function plainPath(bin, scratch) {
  const folder = join(scratch, 'bin')
  mkdirSync(folder)
  const which = (name) => must(`which ${name}`, 'which', [name]).trim()
  for (const name of ['sh', 'npm', 'npx', 'uname', 'sed', 'dirname']) symlinkSync(which(name), join(folder, name))
  symlinkSync(process.execPath, join(folder, 'node'))
  for (const name of ['pnpm', 'yarn', 'bun']) symlinkSync(join(bin, name), join(folder, name))
  return folder
}

/** `trinity doctor` says where the engine comes from; then some steps of the quick start run. */
function use(app, env) {
  const trinity = join(app, 'node_modules', 'trinity-rft', 'dist', 'cli', 'main.js')
  const report = JSON.parse(must('trinity doctor', process.execPath, [trinity, 'doctor', '--json'], { cwd: app, env }))
  const addon = report.checks.find((check) => check.id === 'addon')
  if (addon?.data?.origin !== 'package') throw new Error(`the engine is not the package's: ${JSON.stringify(addon)}`)
  const compiler = report.checks.find((check) => check.id === 'compiler')
  if (compiler?.status === 'ok') throw new Error(`a compiler is in reach: ${compiler.found}`)
  const example = join(app, 'node_modules', 'trinity-rft', 'examples', 'quickstart', 'quickstart.yaml')
  const run = ['run', '--config', example, '--set', 'buffer.total_steps=3']
  must('the quick start', process.execPath, [trinity, ...run], { cwd: app, env })
  if (!existsSync(join(app, 'checkpoints', 'quickstart'))) throw new Error('the quick start wrote nothing')
  return addon.found
}

function attempt(name, scratch, env) {
  const app = join(scratch, name)
  mkdirSync(app)
  writeFileSync(join(app, 'package.json'), '{"name": "app", "private": true}')
  const started = Date.now()
  const [command, ...args] = installs[name]
  must(name, command, args, { cwd: app, env })
  const took = ((Date.now() - started) / 1000).toFixed(1)
  console.log(`${name}: installed in ${took} s, ${use(app, env)}`)
}

/** A project as a stranger makes it: created, installed and tested, all with one package manager. */
function createProject(name, scratch, env) {
  const folder = join(scratch, `${name}-create`)
  mkdirSync(folder)
  const [command, ...args] = creates[name]
  must(`${name} create`, command, [...args, '--have', 'nothing', '--where', 'cpu'], { cwd: folder, env })
  const cwd = join(folder, 'made')
  must(`${name} install`, command, ['install'], { cwd, env })
  const tested = must(`${name} run test`, command, ['run', 'test'], { cwd, env })
  console.log(`${name} create: ${/\d+ passed|pass \d+/.exec(tested)?.[0] ?? 'tested'}`)
}

const scratch = mkdtempSync(join(tmpdir(), 'trinity-install-'))
let registry
try {
  const bin = tools()
  registry = await startRegistry(bin, scratch)
  const { url } = registry
  const host = new URL(url).host
  writeFileSync(join(scratch, 'npmrc'), `registry=${url}\n//${host}/:_authToken=none\n`)
  const kept = Object.entries(process.env).filter(([name]) => !/^(npm_|TRINITY_|CXX$)/i.test(name))
  const env = {
    ...Object.fromEntries(kept),
    HOME: scratch,
    NPM_CONFIG_USERCONFIG: join(scratch, 'npmrc'),
    npm_config_registry: url,
  }
  must('publishing', process.execPath, [join(import.meta.dirname, 'release.mjs'), '--publish', packed], { env })
  const plain = { ...env, PATH: plainPath(bin, scratch) }
  for (const name of chosen) {
    attempt(name, scratch, plain)
    if (name in creates) createProject(name, scratch, plain)
  }
} finally {
  registry?.child.kill()
  rmSync(scratch, { recursive: true, force: true })
}
