import { applyAliases } from '../alias.js'
import type { Field, RecordSpec } from '../field.js'
import { type Entry, type MapNode, type Node, scalarNode } from '../node.js'
import type { Problems } from '../problem.js'
import { config } from '../section/config.js'
import { wrapTrainerConfig } from '../trainer-config.js'

/** Keys that are still read under their old name, which no table of aliases has: they win over the new one. */
const RENAMED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  OptimizerConfig: { warmup_style: 'lr_scheduler_type' },
  TasksetConfig: { task_selector: 'data_selector' },
}

/** A file with its present keys and words. */
export function presentTree(tree: MapNode, problems: Problems): MapNode {
  return inRecord(config, applyAliases(wrapTrainerConfig(tree), problems), '', problems)
}

function inRecord(spec: RecordSpec, map: MapNode, path: string, problems: Problems): MapNode {
  const entries = new Map<string, Entry>()
  const renamed = RENAMED[spec.name] ?? {}
  for (const [key, entry] of map.entries) {
    const isNull = entry.node.kind === 'scalar' && entry.node.type === 'null'
    const now = Object.hasOwn(renamed, key) ? renamed[key] : key
    const at = path === '' ? key : `${path}.${key}`
    if (now !== key) problems.note('alias', at, isNull ? 'is no more' : `is now ${now}`, entry.mark)
    if (now !== key && isNull) continue
    const field = Object.hasOwn(spec.fields, now) ? spec.fields[now] : undefined
    // the old name wins, wherever it stands
    if (now === key && Object.entries(renamed).some(([old, to]) => to === key && isSet(map, old))) continue
    entries.set(now, field ? { ...entry, node: inField(field, entry.node, at, problems) } : entry)
  }
  return { ...map, entries }
}

function isSet(map: MapNode, key: string): boolean {
  const node = map.entries.get(key)?.node
  return node !== undefined && !(node.kind === 'scalar' && node.type === 'null')
}

function inField(field: Field, node: Node, path: string, problems: Problems): Node {
  if (field.kind === 'record' && node.kind === 'map') return inRecord(field.record as RecordSpec, node, path, problems)
  const { item, aliases = {} } = field
  if (item && node.kind === 'list') {
    return { ...node, items: node.items.map((one, i) => inField(item, one, `${path}[${i}]`, problems)) }
  }
  if (item && field.kind === 'map' && node.kind === 'map') {
    const entries = [...node.entries].map(
      ([key, entry]) => [key, { ...entry, node: inField(item, entry.node, `${path}.${key}`, problems) }] as const,
    )
    return { ...node, entries: new Map(entries) }
  }
  if (node.kind !== 'scalar' || !Object.hasOwn(aliases, node.text)) return node
  problems.note('alias', path, `${node.text} is now ${aliases[node.text]}`, node.mark)
  return scalarNode(aliases[node.text], node.mark)
}
