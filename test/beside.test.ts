import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { basename, dirname, join, normalize, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'

/**
 * A test stands beside what it tests: every file of src with behavior has a test of its name, or is reached from a test
 * in its folder (or one above) by imports that do not leave the folder of that test.
 */

const root = resolve(import.meta.dirname, '..')
const git = existsSync(join(root, '.git'))
const files = git
  ? execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', 'src'], { cwd: root })
      .toString()
      .split('\n')
      .filter((path) => path.endsWith('.ts') && existsSync(join(root, path)))
  : []
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const isTest = (path: string) => path.endsWith('.test.ts')
const testedBy = (test: string) => test.replace(/(\.gate|\.nightly|\.python|\.slow|\.golden)?\.test\.ts$/, '.ts')

/** What is tested from elsewhere, and where: it is only worth something as a whole, or its test needs a built `dist`. */
const ELSEWHERE: Readonly<Record<string, readonly string[]>> = {
  'test/run/cli.gate.test.ts': ['src/cli/main.ts'],
  'src/cli/config.test.ts': ['src/plugin/use.ts'],
  'src/play/model.test.ts': ['src/run/one-model.ts'],
  'src/engine/vllm/conformance.slow.test.ts': ['pair', 'real-server'].map(
    (name) => `src/engine/served/${name}.fixture.ts`,
  ),
  'src/environment/scienceworld/simulator/pool.test.ts': ['src/environment/scienceworld/simulator/owner.fixture.ts'],
  'src/environment/sql/database/database.test.ts': ['src/environment/sql/database/worker.ts'],
  'test/run/leave.gate.test.ts': ['src/cli/leave.ts'],
  'test/run/studio-write.gate.test.ts': [
    'src/studio/child/child.ts',
    'src/studio/write/desk-process.ts',
    'src/studio/write/open-desk.ts',
    'src/studio/playground/player-process.ts',
  ],
  'test/run/serve.gate.test.ts': ['src/run/serve.ts', 'src/run/serve-gateway.ts'],
  'test/run/blocked.gate.test.ts': ['signals', 'stack', 'thread', 'watchdog'].map(
    (name) => `src/run/watchdog/${name}.ts`,
  ),
  'test/run/isolation.gate.test.ts': ['process', 'thread', 'worker'].map((name) => `src/explorer/isolation/${name}.ts`),
  'test/run/modes.test.ts': ['bench', 'both', 'explore', 'models', 'run', 'stage', 'train', 'catalog'].map(
    (name) => `src/run/${name}.ts`,
  ),
  'src/config/resolve/run.test.ts': [
    'data-processor',
    'explorer',
    'facts',
    'index',
    'synchronizer',
    'top',
    'trainer',
  ].map((name) => `src/config/resolve/${name}.ts`),
  'test/run/perf.gate.test.ts': ['src/perf/measure.ts'],
  'test/run/sweep.gate.test.ts': ['src/sweep/child.ts', 'src/sweep/sweep.ts'],
  'test/examples/dry-run.test.ts': ['src/config/plan.ts', 'src/config/rows.ts'],
  'src/cli/setup.test.ts': ['command', 'failure', 'install', 'plan'].map((name) => `src/machine/setup/${name}.ts`),
}

/** Tests of a folder as a whole are named after what they show, or like the folder. All others have a file to test. */
const WHOLE = new Set(
  `apart broadcast conformance datasets directories docs examples faults fields forms golden gradient hub invariance kill learning native nodes parsers property ray
  published replay robust run save sampling service shaped shared silent supervised template text-files columnar-files view vocabulary distill`.split(
    /\s+/,
  ),
)

/** Files that a file imports, without what is only types. */
function importsOf(path: string): string[] {
  const text = read(path).replace(/(?:import|export) type [^;]*?from '[^']+'/g, '')
  return [...text.matchAll(/(?:from|import\(|import)\s*'(\.[^']+)\.js'/g)].map(([, to]) =>
    normalize(join(dirname(path), `${to}.ts`)),
  )
}

/** Has code that runs: not only types, tables of constants, and what it passes on. */
function behaves(path: string): boolean {
  const text = read(path).replace(/^(?:export )?(?:interface|type)[\s\S]*?^}|^(?:export )?type [^\n]*$/gm, '')
  return /\bfunction\b|\bclass\b|=>\s*\S/.test(text)
}

describe.skipIf(!git)('tests and what they test (skipped outside a git checkout)', () => {
  const imports = new Map(files.map((path) => [path, importsOf(path)]))
  const tests = files.filter(isTest)

  it('no file with behavior is without a test', () => {
    const reached = new Set<string>(Object.values(ELSEWHERE).flat())
    for (const test of tests) {
      const folder = `${dirname(test)}/`
      const waiting = [testedBy(test), ...(imports.get(test) ?? [])]
      const seen = new Set<string>()
      for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
        if (seen.has(path) || !path.startsWith(folder)) continue
        seen.add(path)
        waiting.push(...(imports.get(path) ?? []))
      }
      for (const path of seen) reached.add(path)
    }
    expect(files.filter((path) => !isTest(path) && behaves(path) && !reached.has(path))).toEqual([])
  })

  it('no test is without what it tests', () => {
    const lonely = tests.filter((test) => {
      const name = basename(testedBy(test), '.ts')
      return !files.includes(testedBy(test)) && !WHOLE.has(name) && name !== basename(dirname(test))
    })
    expect(lonely).toEqual([])
  })

  it('exceptions and their tests are there', () => {
    expect(Object.keys(ELSEWHERE).filter((test) => !existsSync(join(root, test)))).toEqual([])
    expect(
      Object.values(ELSEWHERE)
        .flat()
        .filter((path) => !files.includes(path)),
    ).toEqual([])
    const used = new Set(tests.map((test) => basename(testedBy(test), '.ts')))
    expect([...WHOLE].filter((name) => !used.has(name))).toEqual([])
  })
})
