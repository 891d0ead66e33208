import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import * as algorithm from '../algorithm/index.js'
import { policyLossFns } from '../algorithm/index.js'
import { Registry } from '../base/registry.js'
import { createExperience } from '../experience/index.js'
import * as pipeline from '../pipeline/index.js'
import * as task from '../task/index.js'
import { loadPlugins, pluginDirs, pluginFiles } from './index.js'

const things = new Registry<unknown>('thing')
const host = { '.': { z, things }, './algorithm': algorithm, './data': { ...pipeline, ...task } }
let root: string
let count = 0
beforeAll(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'trinity-test-')))
})
afterAll(() => rm(root, { recursive: true, force: true }))

async function dir(files: Record<string, string>): Promise<string> {
  const path = join(root, `plugins${count++}`)
  for (const [name, content] of Object.entries(files)) {
    await mkdir(join(path, name, '..'), { recursive: true })
    await writeFile(join(path, name), content)
  }
  return path
}
const load = async (files: Record<string, string>) => {
  const path = await dir(files)
  return { path, loaded: await loadPlugins([path], host) }
}
const fails = (work: Promise<unknown>) =>
  work.then(
    () => expect.fail('did not fail'),
    (error) => error as { code: string; message: string; hint?: string; path: string; cause: unknown },
  )

describe('the plugin of the documentation', () => {
  it('registers a loss, an operator and a selector in this very process', async () => {
    const docs = await readFile(new URL('../../docs/plugins.md', import.meta.url), 'utf8')
    const source = /```ts\n(\/\/ plugins\/margin\.ts\n[\s\S]*?)```/.exec(docs)?.[1] as string
    expect(source.split('\n').length).toBeLessThan(40)
    await load({ 'margin.ts': source })

    expect(policyLossFns.get('margin').doc).toContain('margin')
    const config = { policy_loss_fn: 'margin', policy_loss_fn_args: { margin: 0.5 } }
    expect(policyLossFns.get('margin').args.parse(config.policy_loss_fn_args)).toEqual({ margin: 0.5 })

    const entry = pipeline.operators.get('min_tokens')
    const operator = await entry.create(entry.args.parse({ tokens: 3 }) as never, {})
    const experiences = [
      [1, 2],
      [1, 2, 3],
    ].map((tokens) => createExperience({ tokens, promptLength: 1 }))
    expect((await operator.process(experiences)).experiences).toEqual([experiences[1]])

    const selector = await task.createSelector({ selector_type: 'backwards' }, 3, async () => [])
    expect([...selector.take(4)]).toEqual([2, 1, 0, 2])
  })
})

describe('loading', () => {
  it('takes the right files, in the order of their names', async () => {
    const add = (name: string) => `import { things } from 'trinity-rft'\nthings.add('${name}', things.names().length)\n`
    const { path, loaded } = await load({
      'b.ts': add('order-b'),
      'a.mjs': add('order-a'),
      'c.js': add('order-c'),
      'd.mts': add('order-d'),
      '_helper.ts': 'throw new Error("not to be loaded")',
      'types.d.ts': 'export declare const x: number',
      'a.test.ts': 'throw new Error("not to be loaded")',
      'sub/e.ts': 'throw new Error("not to be loaded")',
      'notes.md': '',
    })
    expect(loaded.map(({ name }) => name)).toEqual(['a', 'b', 'c', 'd'])
    expect(things.names().filter((name) => name.startsWith('order-'))).toEqual([
      'order-a',
      'order-b',
      'order-c',
      'order-d',
    ])
    expect(await pluginFiles(path)).toEqual(['a.mjs', 'b.ts', 'c.js', 'd.mts'].map((name) => join(path, name)))
  })

  it('runs a plugin once, however often its directory is named', async () => {
    const files = { 'once.ts': `import { things } from 'trinity-rft'\nthings.add('once', 1)\n` }
    const { path, loaded } = await load(files)
    expect(await loadPlugins([path, path], host)).toEqual([...loaded, ...loaded])
  })

  it('understands TypeScript, relative imports of every spelling, and JSON around it', async () => {
    await load({
      'package.json': '{"type":"commonjs"}',
      'all.ts': `
        import { things, type Registry, TrinityError as NotUsedAsAValue } from 'trinity-rft'
        import { one } from './_one.js'
        import { two } from './_two'
        import three from './lib/three.ts'
        enum Level { Low = 1, High }
        interface Sum { total: number }
        declare namespace Types { interface None { none: 1 } }
        export declare module Older { type None = 1 } // namespace B {
        const words = 'namespace C {' + \`module D {\`
        class Box<T> { constructor(private readonly value: T) {} get(): T { return this.value! } }
        const sum = { total: one + two + three } satisfies Sum
        const unused: NotUsedAsAValue | undefined = undefined
        await Promise.resolve()
        things.add('all', [sum.total, Level.High, new Box<number>(5).get(), import.meta.url] as const)
      `,
      '_one.ts': 'export const one: number = 1',
      '_two.ts': 'export const two = 2 as number',
      'lib/three.ts': `import { four } from '../_four.js'\nexport default (four - 1) as number`,
      '_four.ts': 'export const four = 4',
    })
    expect(things.get('all')).toMatchObject([6, 2, 5, expect.stringMatching(/^file:.*all\.ts$/)])
  })

  it('gives a package that a plugin uses the same program too', async () => {
    await load({
      'user.js': `import { shared } from 'some-package'\nimport { things } from 'trinity-rft'\nthings.add('same', shared === things)`,
      'node_modules/some-package/package.json': '{"name":"some-package","type":"module","main":"index.js"}',
      'node_modules/some-package/index.js': `export { things as shared } from 'trinity-rft'`,
      'node_modules/trinity-rft/package.json': '{"name":"trinity-rft","type":"module","main":"index.js"}',
      'node_modules/trinity-rft/index.js': 'export const things = "another copy"',
    })
    expect(things.get('same')).toBe(true)
  })
})

describe('a plugin that fails', () => {
  it.each([
    ['throws', 'const a: number = 1\n\nthrow new Error("no luck")', 'no luck', 3],
    [
      'has a namespace',
      'const a = 1\nexport namespace Low {\n  export const b = a\n}',
      "a plugin cannot have the namespace 'Low'",
      2,
    ],
    ['has a syntax error', 'const a: number = 1\nconst = 3', 'Unexpected token', 2],
    [
      'has a syntax error that only the engine sees',
      'let a = 1\nlet a = 2',
      "Identifier 'a' has already been declared",
      2,
    ],
  ])('because it %s', async (_, source, message, line) => {
    const path = await dir({ 'bad.ts': source })
    const error = await fails(loadPlugins([path], host))
    expect(error).toMatchObject({ code: 'plugin/failed', path: expect.stringContaining(join(path, `bad.ts:${line}`)) })
    expect(error.message).toContain(`plugin 'bad.ts' failed: ${message}`)
    expect(error.cause).toBeDefined()
  })

  it('because of an export that does not exist', async () => {
    const hint = async (name: string, from: string) => {
      const path = await dir({ 'bad.ts': `\nimport { ${name} } from '${from}'\n${name}.names()` })
      return (await fails(loadPlugins([path], host))).hint
    }
    expect(await hint('polcyLossFns', 'trinity-rft/algorithm')).toBe("did you mean 'policyLossFns'?")
    expect(await hint('policyLossFns', 'trinity-rft')).toBe("import it from 'trinity-rft/algorithm'")
    expect(await hint('nothingLikeIt', 'trinity-rft/data')).toContain("'trinity-rft/data' has no export")
  })

  it('because of a subpath that does not exist, even where another copy has it', async () => {
    const path = await dir({
      'bad.ts': `import { x } from 'trinity-rft/algorithms'\nx()`,
      'node_modules/trinity-rft/package.json': '{"name":"trinity-rft","type":"module","exports":{"./*":"./x.js"}}',
      'node_modules/trinity-rft/x.js': 'export const x = () => {}',
    })
    expect((await fails(loadPlugins([path], host))).hint).toBe(
      "did you mean 'trinity-rft/algorithm'? there are trinity-rft, trinity-rft/algorithm, trinity-rft/data",
    )
  })

  it('because of a package that is not installed', async () => {
    const path = await dir({ 'bad.ts': `import x from 'no-such-package'\nx()` })
    expect(await fails(loadPlugins([path], host))).toMatchObject({
      hint: expect.stringContaining('npm install no-such-package'),
    })
  })

  it('because of a name that is taken, with the hint of the registry', async () => {
    const path = await dir({ 'bad.ts': `import { things } from 'trinity-rft'\nthings.add('x', 1)\nthings.add('x', 2)` })
    const error = await fails(loadPlugins([path], host))
    expect(error.hint).toContain('replace: true')
    expect(error.path).toBe(`${join(path, 'bad.ts')}:3:8`)
  })

  it('in a file it imports, names that file', async () => {
    const path = await dir({ 'bad.ts': `import './_deep'`, '_deep.ts': '\n\nnull!.x' })
    expect(await fails(loadPlugins([path], host))).toMatchObject({ path: expect.stringContaining('_deep.ts:3') })
  })

  it('because its top-level await never ends', async () => {
    const path = await dir({ 'waits.mjs': 'await new Promise(() => {})' })
    const error = fails(loadPlugins([path], host))
    // what Node says when nothing is open any more
    const say = setInterval(() => process.emit('beforeExit', 0), 50)
    expect(await error.finally(() => clearInterval(say))).toMatchObject({
      code: 'plugin/failed',
      message: "plugin 'waits.mjs' failed: its top-level await never ended",
      path: join(path, 'waits.mjs'),
      hint: expect.stringContaining('deadline'),
    })
  })

  it('because the directory is not there', async () => {
    expect(await fails(loadPlugins([join(root, 'nowhere')], host))).toMatchObject({ code: 'plugin/no-directory' })
  })
})

describe('names', () => {
  it('come from the option and the environment', () => {
    const env = { TRINITY_PLUGIN_DIRS: ['/b', '', '/a/../a'].join(delimiter) }
    expect(pluginDirs('/a', env)).toEqual(['/a', '/b'])
    expect(pluginDirs(undefined, {})).toEqual([])
  })
})
