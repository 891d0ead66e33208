import { parseDocument } from 'yaml'
import { messageOf, TrinityError } from '../base/error.js'
import { Settings } from './settings.js'
import type { Value } from './value.js'

const SECTIONS = [
  'data',
  'actor_rollout_ref',
  'algorithm',
  'trainer',
  'critic',
  'reward_model',
  'reward',
  'custom_reward_function',
]
const MAX_DEPTH = 50

/** Whether a parsed YAML document looks like a veRL configuration. */
export function looksLikeVerl(root: unknown): root is Record<string, unknown> {
  if (root === null || typeof root !== 'object' || Array.isArray(root)) return false
  const keys = Object.keys(root)
  return (
    keys.includes('actor_rollout_ref') ||
    (keys.includes('defaults') && keys.some((key) => SECTIONS.includes(key))) ||
    keys.filter((key) => SECTIONS.includes(key)).length >= 3
  )
}

/** Parsed YAML, or undefined when the text is not YAML at all. */
export function parseYaml(text: string): unknown {
  try {
    const document = parseDocument(text, { merge: true, uniqueKeys: false, logLevel: 'silent' })
    return document.errors.length > 0 ? undefined : document.toJS({ maxAliasCount: 100 })
  } catch {
    return undefined
  }
}

/** A veRL YAML file to settings. `_target_` keys only name Python classes and are skipped. */
export function readVerlYaml(root: Record<string, unknown>): { settings: Settings; notes: string[] } {
  const settings = new Settings()
  const notes: string[] = []
  const { defaults, ...sections } = root
  if (defaults !== undefined) {
    notes.push("the files under `defaults` are not read: for keys they set, veRL's own defaults are assumed")
  }
  try {
    for (const [name, value] of Object.entries(sections)) flatten(name, value, settings, 0)
  } catch (error) {
    if (error instanceof TrinityError) throw error
    throw new TrinityError('verl/yaml', `the YAML cannot be read: ${messageOf(error)}`)
  }
  return { settings, notes }
}

function flatten(key: string, value: unknown, settings: Settings, depth: number): void {
  if (depth > MAX_DEPTH) throw new TrinityError('verl/yaml', 'the YAML is nested over 50 deep', { path: key })
  if (value === undefined || /(^|\.)(_target_|_partial_|_convert_)$/.test(key) || value === '???') return
  if (value !== null && typeof value === 'object' && !Array.isArray(value)) {
    for (const [name, inner] of Object.entries(value)) flatten(`${key}.${name}`, inner, settings, depth + 1)
    return
  }
  settings.set(key, toValue(value, 0))
}

function toValue(value: unknown, depth: number): Value {
  if (depth > MAX_DEPTH) return null
  if (value === null || ['string', 'number', 'boolean'].includes(typeof value)) return value as Value
  if (Array.isArray(value)) return value.map((item) => toValue(item, depth + 1))
  if (typeof value === 'object')
    return Object.fromEntries(Object.entries(value!).map(([name, inner]) => [name, toValue(inner, depth + 1)]))
  return String(value)
}
