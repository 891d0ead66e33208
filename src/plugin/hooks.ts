/**
 * What Node's module loader asks while plugins are loaded. On Node 20 this file runs in the loader's own thread, so it
 * imports nothing of ours and learns everything through `HookData`.
 */
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

export interface HookData {
  /** The name of the running program's package. */
  packageName: string
  /** Sources of the modules that plugins get for it and its subpaths, by what they write to import them. */
  sources: Record<string, string>
  /** URLs of the plugin files. */
  entries: string[]
  /** URL of a file of ours, from which our dependencies are found. */
  base: string
}

interface Resolved {
  url: string
  format?: string | null
  shortCircuit?: boolean
}
interface Loaded {
  format: string
  source: string
  shortCircuit: true
}
/** TypeScript without its types; undefined: it cannot do this one. */
export type TypeStripper = (source: string) => string | undefined
type Strip = (code: string, options: { transforms: 'typescript'[]; disableESTransforms: true }) => { code: string }

const HOST = 'trinity-rft-host:'

/** Is this the address of a module of the running program? */
export const isHost = (url: string | undefined): url is string => url?.startsWith(HOST) === true

export class PluginHooks {
  readonly #data: HookData
  /** Files that are plugins or are imported by them, other than packages. */
  readonly #ours: Set<string>
  /** Tried first, before a package of ours. */
  readonly #own: TypeStripper | undefined
  #strip?: Strip

  constructor(data: HookData, own?: TypeStripper) {
    this.#data = data
    this.#own = own
    this.#ours = new Set(data.entries)
  }

  /** A part of the program itself; or the TypeScript file behind `./x.js` and `./x`. */
  redirect(specifier: string, parent: string | undefined): string | undefined {
    const { packageName, sources } = this.#data
    if (Object.hasOwn(sources, specifier)) return HOST + specifier
    // Another copy must not take the place of what this program does not have.
    if (specifier.startsWith(`${packageName}/`) && specifier !== `${packageName}/package.json`)
      throw new Error(`Cannot find package '${specifier}'`)
    if (!/^\.{1,2}\//.test(specifier) || parent === undefined || !this.#ours.has(parent)) return undefined
    const url = new URL(specifier, parent).href
    if (existsSync(fileURLToPath(url))) return undefined
    const stem = url.replace(/\.(m?)js$/, '')
    return [`${stem}.ts`, `${stem}.mts`, `${stem}.js`].find((candidate) => existsSync(fileURLToPath(candidate)))
  }

  /** What a plugin imports is treated as the plugin is. */
  note(url: string, parent: string | undefined): void {
    if (parent !== undefined && this.#ours.has(parent) && url.startsWith('file:') && !url.includes('/node_modules/')) {
      this.#ours.add(url)
    }
  }

  load(url: string): Loaded | undefined {
    if (isHost(url)) return { format: 'module', source: this.#data.sources[url.slice(HOST.length)], shortCircuit: true }
    if (!this.#ours.has(url)) return undefined
    const ending = /\.(m?ts|m?js)(?:\?.*)?$/.exec(url)?.[1]
    if (ending === undefined || ending === 'mjs') return undefined
    const path = fileURLToPath(url)
    const source = readFileSync(path, 'utf8')
    // A plugin is an ES module whatever package.json lies around it.
    return { format: 'module', source: ending === 'js' ? source : this.#withoutTypes(source, path), shortCircuit: true }
  }

  #withoutTypes(source: string, path: string): string {
    const stripped = this.#own?.(source)
    if (stripped !== undefined) return stripped
    this.#strip ??= (createRequire(this.#data.base)('sucrase') as { transform: Strip }).transform
    try {
      const { code } = this.#strip(source, { transforms: ['typescript'], disableESTransforms: true })
      checkNamespaces(source, code)
      return code
    } catch (error) {
      const { message, loc } = error as { message: string; loc?: { line: number; column: number } }
      const at = loc ?? { line: Number(/\((\d+):/.exec(message)?.[1] ?? 1), column: 1 }
      throw new SyntaxError(`${path}:${at.line}:${at.column}: ${message.replace(/\s*\(\d+:\d+\)$/, '')}`)
    }
  }
}

const NAMESPACE = /(?<!\bdeclare\s+)\b(?:namespace|module)\s+([A-Za-z_$][\w$.]*)\s*\{/g

/** Refuses what is dropped with the types and is more than a type. In comments and texts the words are still there. */
function checkNamespaces(source: string, code: string): void {
  const after = code.split('\n')
  for (const { 0: words, 1: name, index } of source.matchAll(NAMESPACE)) {
    const before = source.slice(0, index)
    const line = before.split('\n').length
    // Every line stays where it is.
    if (after[line - 1].includes(words.split('\n')[0])) continue
    const text = `a plugin cannot have the namespace '${name}': put what it holds into the module itself or into a file of its own; 'declare namespace' is for types`
    throw Object.assign(new SyntaxError(text), { loc: { line, column: index - before.lastIndexOf('\n') } })
  }
}

// ------------------------------------------------------------------------ Node 20: called in the loader's thread

let hooks: PluginHooks

export function initialize(data: HookData): void {
  hooks = new PluginHooks(data)
}

export async function resolve(
  specifier: string,
  context: { parentURL?: string },
  next: (specifier: string, context: object) => Promise<Resolved>,
): Promise<Resolved> {
  const target = hooks.redirect(specifier, context.parentURL)
  if (isHost(target)) return { url: target, format: 'module', shortCircuit: true }
  const resolved = await next(target ?? specifier, context)
  hooks.note(resolved.url, context.parentURL)
  return resolved
}

export async function load(
  url: string,
  context: object,
  next: (url: string, context: object) => Promise<unknown>,
): Promise<unknown> {
  return hooks.load(url) ?? next(url, context)
}
