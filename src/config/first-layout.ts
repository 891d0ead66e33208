import { at, type MapNode, nodeOf, pathParts, plain, removeAt, withNode } from './node.js'
import type { Problems } from './problem.js'

const MOVED = [
  ['buffer.sft_warmup_dataset', 'buffer.trainer_input.sft_warmup_dataset'],
  ['trainer.sft_warmup_steps', 'buffer.trainer_input.sft_warmup_steps'],
] as const

/**
 * Files of version 0.1 have one data set in `data`, with a split for training and one for evaluation. What is more
 * than another name for a key is brought up to date here; the rest stands in the table of aliases.
 */
export function firstLayout(tree: MapNode, problems: Problems): MapNode {
  let result = tree
  for (const [old, now] of MOVED) {
    const node = at(result, old)
    if (!node || at(result, now)) continue
    problems.note('alias', old, `is now ${now}`, node.mark)
    result = withNode(removeAt(result, pathParts(old)), pathParts(now), node) as MapNode
  }
  const split = at(result, 'data.eval_split')
  if (!split) return result
  const given = result
  result = removeAt(result, ['data', 'eval_split'])
  if (split.kind === 'scalar' && !split.text) return result
  problems.note('alias', 'data.eval_split', 'is now an entry of buffer.explorer_input.eval_tasksets', split.mark)
  const set = {
    name: 'eval',
    ...Object.fromEntries(
      [
        ['path', 'data.dataset_path'],
        ['subset_name', 'data.subset_name'],
        ['split', 'data.eval_split'],
        ['format', 'data.format'],
      ].flatMap(([key, from]) => {
        const node = at(given, from)
        return node ? [[key, plain(node)] as const] : []
      }),
    ),
  }
  return withNode(result, pathParts('buffer.explorer_input.eval_tasksets'), nodeOf([set], split.mark)) as MapNode
}
