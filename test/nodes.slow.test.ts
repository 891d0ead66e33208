import { execFile, execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { delimiter, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it } from 'vitest'
import { tempDir } from './support/temp-dir.js'

/**
 * The package on every Node that the documentation names: packed, installed by that Node, and used. npm has each of them, in the packages that
 * its `node` installs. The engine is compiled once: its interface to Node is the stable one. TRINITY_NODES=22,26 takes only some.
 */

const run = promisify(execFile)
const root = resolve(import.meta.dirname, '..')
const NODES = (process.env.TRINITY_NODES ?? '20,22,24,26').split(',')
const PACKAGE = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`
const QUICKSTART = 'node_modules/trinity-rft/examples/quickstart/quickstart.yaml'
const FEW = ['--set', 'buffer.explorer_input.eval_tasksets=[]']
const MINUTE = 60_000

/** Types that can be left out as they are: where Node does that itself, no compiler is loaded. */
const PLUGIN = `import { createRequire } from 'node:module'
import { rewardFns, rewardFn, type RewardInput, z } from 'trinity-rft'
import { half } from './_half.js'

const points: number = half
rewardFns.add('half', rewardFn({
  doc: 'half a point for an answer',
  args: z.strictObject({}),
  score: ({ response }: RewardInput) => ({ half: response === '' ? 0 : points }),
}))
const compiled: boolean = Object.keys(createRequire(import.meta.url).cache).some((file) => file.includes('sucrase'))
console.log(compiled ? 'types: removed by a package' : 'types: removed by Node')
`
/** What Node refuses, and what goes on working. */
const HALF = `enum Points { None = 0, Some = 5 }
export const half: number = Points.Some / 10
`

let tarball = ''
beforeAll(async () => {
  for (const file of ['dist/cli/main.js', 'native/build/trinity.node'])
    if (!existsSync(join(root, file))) throw new Error(`${file} is not there: npm run build && npm run build:native`)
  const folder = await tempDir()
  const { stdout } = await run('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', folder], {
    cwd: root,
  })
  tarball = join(folder, JSON.parse(stdout)[0].filename)
}, 10 * MINUTE)

describe.each(NODES)('Node %s', (version) => {
  let app = ''
  let env: NodeJS.ProcessEnv = {}
  const start = (command: string, ...args: string[]) =>
    run(command, args, { cwd: app, env, timeout: 10 * MINUTE, maxBuffer: 1 << 26 })
  const npmInstall = (what: string) =>
    start('npm', 'install', '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error', '--ignore-scripts', what)

  beforeAll(async () => {
    app = await tempDir()
    const kept = Object.entries(process.env).filter(([name]) => !/^(npm_|TRINITY_|VITEST|NODE_ENV$)/.test(name))
    env = { ...Object.fromEntries(kept), NO_COLOR: '1' }
    writeFileSync(join(app, 'package.json'), '{ "private": true, "type": "module" }')
    await npmInstall(`${PACKAGE}@${version}`)
    const bin = join(app, 'node_modules', PACKAGE, process.platform === 'win32' ? '' : 'bin')
    env.PATH = `${bin}${delimiter}${env.PATH}`
    await npmInstall(tarball)
    for (const file of ['trinity.node', 'trinity.sha256'])
      cpSync(join(root, 'native/build', file), join(app, 'node_modules/trinity-rft/native/build', file))
  }, 20 * MINUTE)

  it('is the one that runs', async () => {
    expect((await start('node', '--version')).stdout).toMatch(new RegExp(`^v${version}\\.`))
  })

  it('has every entry of the package', async () => {
    const { exports } = JSON.parse(
      execFileSync('node', ['-p', 'JSON.stringify(require("trinity-rft/package.json"))'], {
        cwd: app,
        encoding: 'utf8',
      }),
    ) as { exports: Record<string, unknown> }
    const entries = Object.keys(exports).filter((entry) => entry !== './package.json')
    const script = entries.map((entry) => `await import('trinity-rft${entry.slice(1)}')`).join('\n')
    expect(await start('node', '--input-type=module', '-e', script)).toEqual({ stdout: '', stderr: '' })
  })

  it(
    'trains the quick start for three steps, without a warning',
    async () => {
      const { stdout, stderr } = await start(
        'npx',
        'trinity',
        'run',
        '-c',
        QUICKSTART,
        '--set',
        'buffer.total_steps=3',
        ...FEW,
      )
      expect(stdout + stderr).toContain('step 3/3')
      expect(stdout + stderr).not.toMatch(/ExperimentalWarning|DeprecationWarning/)
      expect(existsSync(join(app, 'checkpoints/quickstart/countdown/global_step_3/actor/huggingface'))).toBe(true)
    },
    5 * MINUTE,
  )

  it(
    'loads plugins in TypeScript, with its own type stripping where it has that',
    async () => {
      const plugins = join(app, 'plugins')
      mkdirSync(plugins)
      // the first is read before the file with the enum has made anybody load a compiler
      writeFileSync(
        join(plugins, 'a.ts'),
        PLUGIN.replace("import { half } from './_half.js'", 'const half = 0.5').replaceAll("'half'", "'plain'"),
      )
      writeFileSync(join(plugins, 'b.ts'), PLUGIN)
      writeFileSync(join(plugins, '_half.ts'), HALF)
      const changed = ['--set', 'name=half', '--set', 'buffer.total_steps=1', ...FEW]
      const reward = ['--set', 'buffer.explorer_input.default_reward_fn_type=half', '--plugin-dir', 'plugins']
      const { stdout, stderr } = await start('npx', 'trinity', 'run', '-c', QUICKSTART, ...changed, ...reward)
      expect(stdout + stderr).toMatch(/step 1\/1\s+reward 0\.5\b/)
      expect(stdout + stderr).not.toMatch(/ExperimentalWarning/)
      // Node 20 asks in a thread of its own, whose packages a plugin does not see
      if (version !== '20') expect(stdout.match(/types: removed by .*/)?.[0]).toBe('types: removed by Node')
    },
    5 * MINUTE,
  )

  it(
    'passes the tests of the native engine and of plugins',
    async () => {
      const vitest = join(root, 'node_modules/vitest/vitest.mjs')
      const tests = ['golden', 'gradient', 'conformance', 'invariance'].map(
        (name) => `src/engine/native/${name}.test.ts`,
      )
      const node = (await start('node', '-p', 'process.execPath')).stdout.trim()
      const options = { cwd: root, env, timeout: 10 * MINUTE, maxBuffer: 1 << 26 }
      const { stdout } = await run(
        node,
        [vitest, 'run', '--testTimeout=300000', ...tests, 'src/plugin/load.test.ts'],
        options,
      )
      expect(stdout).toMatch(/\b0 failed/)
    },
    10 * MINUTE,
  )
})
