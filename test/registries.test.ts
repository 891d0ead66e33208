import { readdirSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, it } from 'vitest'
import type { z } from 'zod'
import { Registry } from '../src/base/registry.js'

const src = fileURLToPath(new URL('../src/', import.meta.url))
const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter(
  (file) => file.endsWith('.ts') && !file.endsWith('.test.ts'),
)
const homes = files.filter((file) => /(^|\/)registry\.ts$/.test(file) && file !== 'base/registry.ts')

interface Found {
  readonly name: string
  readonly home: string
  readonly registry: Registry<object>
}
const found: Found[] = []

beforeAll(async () => {
  for (const home of homes) {
    const exported: Record<string, unknown> = await import(/* @vite-ignore */ src + home)
    for (const [name, registry] of Object.entries(exported))
      if (registry instanceof Registry) found.push({ name, home, registry })
  }
})

/** What an entry says of itself: a class gives nothing on to its subclasses. */
function own(entry: object): { doc?: string; args?: z.ZodObject } {
  const says = (key: string) => Object.hasOwn(entry, key) || typeof entry !== 'function'
  const { doc, args } = entry as { doc?: string; args?: z.ZodObject }
  return { doc: says('doc') ? doc : undefined, args: says('args') ? args : undefined }
}

/** `[registry.entry, what of it]` for all that is registered. */
function all<T>(of: (entry: ReturnType<typeof own>, registry: Found) => T): [string, T][] {
  return found.flatMap((one) =>
    one.registry.names().map((name): [string, T] => [`${one.name}.${name}`, of(own(one.registry.get(name)), one)]),
  )
}

describe('registries', () => {
  it('stand in the registry.ts of their folder, one kind each', () => {
    const elsewhere = files.filter(
      (file) =>
        !homes.includes(file) && file !== 'base/registry.ts' && /new Registry\b/.test(readFileSync(src + file, 'utf8')),
    )
    expect(elsewhere).toEqual([])
    expect(homes.filter((home) => !found.some((one) => one.home === home))).toEqual([])
    const kinds = found.map(({ registry }) => registry.kind)
    expect(new Set(kinds).size).toBe(kinds.length)
    expect(kinds.length).toBeGreaterThanOrEqual(19)
  })

  it('are filled there, not by the side effect of another file', () => {
    const fills = new RegExp(`^\\s*(${found.map(({ name }) => name).join('|')})\\.add\\(`, 'm')
    // agent() adds what a user hands it
    const filled = files.filter((file) => fills.test(readFileSync(src + file, 'utf8')))
    expect(filled.filter((file) => file !== 'workflow/agent/agent.ts')).toEqual([])
    expect(found.filter(({ registry }) => registry.names().length === 0)).toEqual([])
  })

  it('have a line for people on every entry', () => {
    expect(all(({ doc }) => doc ?? '').filter(([, doc]) => !/^\S.{3,118}\S$/.test(doc))).toEqual([])
  })

  it('take arguments of all entries or of none, and refuse those they do not know', () => {
    const takes = (one: Found) => one.registry.names().filter((name) => own(one.registry.get(name)).args).length
    expect(found.filter((one) => takes(one) > 0 && takes(one) < one.registry.names().length)).toEqual([])
    const refuses = (args: z.ZodObject) =>
      args.safeParse({ no_such_argument: 1 }).error?.issues.some(({ code }) => code === 'unrecognized_keys')
    expect(all(({ args }) => !args || refuses(args)).filter(([, refused]) => !refused)).toEqual([])
  })

  it('have a default for every argument, or a description of what must be given', () => {
    const bare = (args: z.ZodObject) =>
      Object.entries(args.shape as Record<string, z.ZodType>)
        .filter(([, field]) => !field.safeParse(undefined).success && !field.description)
        .map(([name]) => name)
    expect(all(({ args }) => (args ? bare(args) : [])).filter(([, names]) => names.length > 0)).toEqual([])
  })

  it('are open to plugins, and docs/plugins.md says where', async () => {
    const listed = readFileSync(new URL('../docs/plugins.md', import.meta.url), 'utf8')
    const rows = [...listed.matchAll(/^\| `(\w+)` \| `trinity-rft(\S*)` \|/gm)].map(([, name, at]) => `.${at} ${name}`)
    const open: string[] = []
    const registries: unknown[] = []
    for (const entry of files.filter((file) => !file.includes('/'))) {
      const exported: Record<string, unknown> = await import(/* @vite-ignore */ src + entry)
      const at = entry === 'index.ts' ? '.' : `./${entry.slice(0, -'.ts'.length)}`
      const names = Object.keys(exported).filter((name) => exported[name] instanceof Registry)
      open.push(...names.map((name) => `${at} ${name}`))
      registries.push(...names.map((name) => exported[name]))
    }
    expect(rows.sort()).toEqual(open.sort())
    expect(found.filter(({ registry }) => !registries.includes(registry)).map(({ name }) => name)).toEqual([])
  })

  it('have a folder each that says what they hold', () => {
    // two in one file only where they belong together
    const shared = homes.filter((home) => found.filter((one) => one.home === home).length > 1)
    expect(shared.map((home) => dirname(home))).toEqual(['reward/answer'])
  })
})
