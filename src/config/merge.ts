import { at, child, type MapNode, type Node, pathParts, removeAt, without } from './node.js'

/** `over` laid on `base`: maps are merged key by key, everything else is replaced. */
export function merge(base: MapNode, over: MapNode): MapNode {
  return mergeMaps(oneTasksetForm(base, over), over)
}

function mergeMaps(base: MapNode, over: MapNode): MapNode {
  const entries = new Map(base.entries)
  for (const [key, entry] of over.entries) {
    const below = entries.get(key)?.node
    const both = below?.kind === 'map' && entry.node.kind === 'map'
    entries.set(key, both ? { ...entry, node: mergeMaps(below, entry.node as MapNode) } : entry)
  }
  return { ...over, entries }
}

/** `taskset` and `tasksets` are two ways to say the same: the upper file's way replaces the lower one's. */
function oneTasksetForm(base: MapNode, over: MapNode): MapNode {
  const input = at(over, 'buffer.explorer_input')
  let result = base
  if (child(input, 'taskset')) result = removeAt(result, pathParts('buffer.explorer_input.tasksets'))
  if (child(input, 'tasksets')) result = removeAt(result, pathParts('buffer.explorer_input.taskset'))
  return result
}

const SLOTS = ['sample_strategy', 'advantage_fn', 'kl_penalty_fn', 'policy_loss_fn', 'kl_loss_fn', 'entropy_loss_fn']
/** What an algorithm chooses: never inherited by a stage with another algorithm. */
const COMPONENTS: readonly string[] = [...SLOTS.flatMap((slot) => [slot, `${slot}_args`]), 'loss_agg_mode']

/** A stage over the outer configuration. */
export function mergeStage(outer: MapNode, stage: MapNode): MapNode {
  let base = without(outer, ['stages'])
  const isSet = (path: string) => {
    const node = at(stage, path)
    return node !== undefined && !isNull(node)
  }
  if (isSet('algorithm.algorithm_type')) {
    for (const key of COMPONENTS) base = removeAt(base, ['algorithm', key])
  }
  if (isSet('buffer.trainer_input.experience_buffer')) {
    base = removeAt(base, pathParts('buffer.trainer_input.experience_buffer'))
  }
  const empty = [...stage.entries].filter(([, entry]) => isNull(entry.node)).map(([key]) => key)
  return { ...merge(base, without(stage, ['stage_name', ...empty])), mark: outer.mark }
}

function isNull(node: Node): boolean {
  return node.kind === 'scalar' && node.type === 'null'
}
