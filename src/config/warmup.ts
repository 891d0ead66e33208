import { at, type MapNode, type Node, nodeOf, pathParts, plain, removeAt, scalarNode, withNode } from './node.js'
import type { Problems } from './problem.js'

const DATASET = 'buffer.trainer_input.sft_warmup_dataset'
const STEPS = 'buffer.trainer_input.sft_warmup_steps'

/**
 * Files before 0.3.2 asked for an SFT warm-up inside the trainer input. It is now a stage of its own; algorithms that
 * mix in expert data read the data set as an auxiliary buffer.
 */
export function warmupStages(tree: MapNode, problems: Problems): MapNode {
  const dataset = at(tree, DATASET)
  const steps = at(tree, STEPS)
  let result = removeAt(removeAt(tree, pathParts(DATASET)), pathParts(STEPS))
  if (!dataset) {
    if (steps) problems.note('no-effect', STEPS, 'there is no sft_warmup_dataset', steps.mark)
    return result
  }
  const algorithm = at(tree, 'algorithm.algorithm_type')
  if (algorithm?.kind === 'scalar' && String(algorithm.value).startsWith('mix')) {
    problems.note('alias', DATASET, 'is now buffer.trainer_input.auxiliary_buffers.sft_dataset', dataset.mark)
    const target = pathParts('buffer.trainer_input.auxiliary_buffers.sft_dataset')
    return withNode(result, target, dataset) as MapNode
  }
  if (!steps || plain(steps) === 0) {
    problems.note('no-effect', DATASET, 'sft_warmup_steps is 0', dataset.mark)
    return result
  }
  if (at(tree, 'stages')) {
    problems.error('alias', DATASET, 'cannot be used together with stages', dataset.mark, 'make it the first stage')
    return result
  }
  problems.note('alias', DATASET, 'is now a first stage with algorithm sft', dataset.mark)
  let first: Node = nodeOf(
    { stage_name: 'sft_warmup', mode: 'train', algorithm: { algorithm_type: 'sft' } },
    dataset.mark,
  )
  first = withNode(first, pathParts('buffer.trainer_input.experience_buffer'), dataset)
  first = withNode(first, pathParts('buffer.total_steps'), steps)
  if (!at(tree, 'buffer.train_batch_size') && !at(tree, 'buffer.read_batch_size')) {
    const size = Number(numberAt(tree, 'buffer.batch_size')) * Number(numberAt(tree, 'algorithm.repeat_times'))
    first = withNode(first, pathParts('buffer.train_batch_size'), scalarNode(size, dataset.mark))
  }
  const second = nodeOf({ stage_name: 'rft' }, dataset.mark)
  result = withNode(result, ['stages'], { kind: 'list', items: [first, second], mark: dataset.mark }) as MapNode
  return result
}

function numberAt(tree: MapNode, path: string): number {
  const node = at(tree, path)
  return node?.kind === 'scalar' && typeof node.value === 'number' ? node.value : 1
}
