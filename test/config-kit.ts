import {
  type Config,
  machineFacts,
  type Parsed,
  parseConfig,
  type Resolved,
  readText,
  resolveConfig,
} from '../src/config/index.js'
import { ConfigError, type Problem } from '../src/config/problem.js'
import type { Facts } from '../src/config/resolve/facts.js'
import { loadCatalog } from '../src/run/catalog.js'

export const catalog = await loadCatalog()

/** A machine that does not depend on the one the tests run on. */
export const facts = (given: Partial<Facts> = {}) =>
  machineFacts({
    cwd: '/w',
    gpus: 0,
    nodeGpus: () => undefined,
    pytorch: false,
    hasPackage: () => false,
    isEmptyDir: () => true,
    readText: () => undefined,
    now: new Date(2026, 0, 2, 3, 4, 5),
    ...given,
  })

export const BASE = `
model: {model_path: m, max_model_len: 2048}
buffer: {explorer_input: {taskset: {path: d, default_workflow_type: math_workflow}}}
`

export interface Given extends Partial<Facts> {
  env?: Record<string, string>
  set?: string[]
}

export function parse(text: string, given: Given = {}): Parsed {
  return parseConfig(text, 'f.yaml', { env: given.env ?? {}, cwd: given.cwd ?? '/w', set: given.set })
}

export function resolveAll(text: string, { env, set, ...machine }: Given = {}): Resolved {
  const options = { env: env ?? {}, cwd: machine.cwd ?? '/w', set }
  return resolveConfig(readText(text, 'f.yaml', options), facts(machine), catalog)
}

/** The configuration of a file without stages. */
export function resolve(text: string, given: Given = {}): Config {
  return resolveAll(text, given).stages[0].config
}

/** `BASE` with keys set on top of it. */
export function withKeys(set: Record<string, unknown>, given: Given = {}): Config {
  return resolve(BASE, { ...given, set: settings(set) })
}

export function settings(set: Record<string, unknown>): string[] {
  return Object.entries(set).map(
    ([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  )
}

/** The problems of a text that must not load. */
export function problemsOf(run: () => unknown): readonly Problem[] {
  try {
    run()
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
  throw new Error('it loaded without a problem')
}

export const errorsOf = (run: () => unknown) => problemsOf(run).filter((problem) => problem.severity === 'error')
