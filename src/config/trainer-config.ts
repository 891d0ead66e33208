import { type Dict, type Fields, filled, type Infer, type RecordSpec } from './field.js'
import { merge } from './merge.js'
import { at, child, type Entry, type MapNode, mapNode, type Node, withNode } from './node.js'
import type { Problems } from './problem.js'
import type { Config } from './section/config.js'
import { trainerConfig } from './section/trainer-config.js'
import { validateSparse } from './validate.js'

const FLAT = ['model', 'actor', 'ref', 'rollout'] as const

/** `trainer_config` may leave out the `actor_rollout_ref` level; here it is put in. */
export function wrapTrainerConfig(tree: MapNode): MapNode {
  let result = wrapAt(tree, ['trainer', 'trainer_config'])
  const stages = child(tree, 'stages')
  if (stages?.kind === 'list') {
    stages.items.forEach((stage, i) => {
      if (stage.kind === 'map') result = wrapAt(result, ['stages', String(i), 'trainer', 'trainer_config'])
    })
  }
  return result
}

function wrapAt(tree: MapNode, parts: string[]): MapNode {
  const node = at(tree, parts.join('.'))
  if (node?.kind !== 'map') return tree
  const flat = FLAT.filter((key) => node.entries.has(key))
  if (flat.length === 0) return tree
  const inner = child(node, 'actor_rollout_ref')
  const entries = new Map(node.entries)
  const wrapped = new Map(inner?.kind === 'map' ? inner.entries : [])
  for (const key of flat) {
    const entry = entries.get(key) as Entry
    const there = wrapped.get(key)
    // a key given at both levels: what stands under actor_rollout_ref is the more particular
    const both = there?.node.kind === 'map' && entry.node.kind === 'map' ? merge(entry.node, there.node) : there?.node
    wrapped.set(key, both ? { mark: (there as Entry).mark, node: both } : entry)
    entries.delete(key)
  }
  entries.set('actor_rollout_ref', { mark: node.mark, node: mapNode(wrapped, node.mark) })
  return withNode(tree, parts, { ...node, entries }) as MapNode
}

/** Checks the tree; unknown keys give warnings and stay, known keys get their types. */
export function checkTrainerConfig(tree: MapNode, problems: Problems, prefix = ''): Dict | undefined {
  const node: Node | undefined = at(tree, 'trainer.trainer_config')
  if (node?.kind !== 'map') return undefined
  return validateSparse(trainerConfig as RecordSpec, node, problems, `${prefix}trainer.trainer_config`)
}

/** veRL's tree with every default in its place. */
export type TrainerTree = Infer<typeof trainerConfig>

/** The one place where `trainer.trainer_config` is read. */
export function trainerTree({ trainer }: Pick<Config, 'trainer'>): TrainerTree {
  return filled(trainerConfig, trainer.trainer_config)
}

/** Keys of the tree that are the training engine's to read, with their full names. */
export const ENGINE_TREE_KEYS: readonly string[] = keysOf(trainerConfig, 'trainer.trainer_config')

function keysOf({ fields }: RecordSpec<Fields>, path: string): string[] {
  return Object.entries(fields).flatMap(([key, field]) => {
    if (field.noEffect) return []
    if (field.record) return keysOf(field.record, `${path}.${key}`)
    return field.forEngine ? [`${path}.${key}`] : []
  })
}
