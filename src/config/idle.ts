import { isDeepStrictEqual } from 'node:util'
import type { Field, RecordSpec } from './field.js'
import { type MapNode, type Node, plain } from './node.js'
import type { Problems } from './problem.js'
import { config } from './section/config.js'
import { trainerConfig } from './section/trainer-config.js'

/** Notes the keys that ask for something other than their default and change nothing here. */
export function noteIdleKeys(tree: MapNode, problems: Problems): void {
  visit(config, tree, '', problems)
}

function visit(spec: RecordSpec, map: MapNode, path: string, problems: Problems): void {
  for (const [key, entry] of map.entries) {
    const field = Object.hasOwn(spec.fields, key) ? spec.fields[key] : undefined
    const at = path === '' ? key : `${path}.${key}`
    if (!field || (entry.node.kind === 'scalar' && entry.node.type === 'null')) continue
    if (isDeepStrictEqual(plain(entry.node), field.initial?.())) continue
    if (field.noEffect) problems.note('no-effect', at, field.noEffect, entry.mark)
    else if (field.derived) problems.note('no-effect', at, 'filled in by the program', entry.mark)
    else if (at === 'trainer.trainer_config') {
      if (entry.node.kind === 'map') visit(trainerConfig, entry.node, at, problems)
    } else below(field, entry.node, at, problems)
  }
}

function below(field: Field, node: Node, path: string, problems: Problems): void {
  if (field.kind === 'record' && node.kind === 'map') visit(field.record as RecordSpec, node, path, problems)
  const item = field.item
  if (!item) return
  if (node.kind === 'list') {
    for (const [i, entry] of node.items.entries()) below(item, entry, `${path}[${i}]`, problems)
  }
  if (node.kind === 'map') for (const [key, entry] of node.entries) below(item, entry.node, `${path}.${key}`, problems)
}
