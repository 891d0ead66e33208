import { layoutFault, nameFault, roleFault } from './name.js'
import { at, type MapNode, type ScalarNode } from './node.js'
import type { Problems } from './problem.js'
import type { Config } from './section/config.js'

const MAIN = 'buffer.trainer_input.experience_buffer'
const AUXILIARY = 'buffer.trainer_input.auxiliary_buffers'
const PIPELINE = 'data_processor.experience_pipeline'

/**
 * Names become folders and files of the run. One that is empty or leads elsewhere would put the run, and what
 * `--fresh` deletes, into a folder that is not its own. `keyOf` says how a key is shown.
 */
export function checkNames(
  config: Config,
  tree: MapNode,
  problems: Problems,
  keyOf: (key: string) => string = (key) => key,
): void {
  checkRoot(config, tree, problems, keyOf)
  // without a group a run lies beside other runs, with one it may lie in the folder of a run of that name
  const folders: Record<string, boolean> = { project: false, group: false, name: config.group !== '' }
  for (const [key, name, mayBeEmpty] of namesIn(config)) {
    const inFolder = Object.hasOwn(folders, key) ? layoutFault(name, folders[key]) : undefined
    const shared = key === 'explorer.name' ? roleFault(name, config.trainer.name) : undefined
    const fault = mayBeEmpty && name === '' ? undefined : (nameFault(name) ?? inFolder ?? shared)
    if (fault === undefined) continue
    const node = at(tree, key)
    const mark = node?.mark ?? tree.mark
    problems.error('name', keyOf(key), `the name ${fault}`, mark, hintOf(node?.kind === 'scalar' ? node : undefined))
  }
}

/** Only a shell knows what `~` means: here it would be a folder of that name. */
function checkRoot(
  { checkpoint_root_dir: root }: Config,
  tree: MapNode,
  problems: Problems,
  keyOf: (key: string) => string,
): void {
  if (!/^~[^/\\]*([/\\]|$)/.test(root)) return
  const [key, mark] = ['checkpoint_root_dir', at(tree, 'checkpoint_root_dir')?.mark ?? tree.mark]
  const hint = 'write the path in full, ${oc.env:HOME}/…, or ./~ for a folder of that name'
  problems.error('value', keyOf(key), `${root} is not the home folder: '~' is not expanded here`, mark, hint)
}

/** Also for the name of a stage, which stands in no configuration of its own. */
export function hintOf(node: ScalarNode | undefined): string {
  const variables = [...(node?.written ?? '').matchAll(/\$\{\s*oc\.env:\s*['"]?(\w+)/g)].map((match) => match[1])
  if (variables.length > 0) {
    const one = variables.length === 1
    return `it comes from the environment: set ${variables.join(' and ')}, or give ${one ? 'it a default that is' : 'them defaults that are'} not empty`
  }
  return 'a name is one folder: letters, digits, _ - and . are always fine'
}

/** Key, name, and whether an empty one stands for another. */
function* namesIn({
  project,
  group,
  name,
  explorer,
  trainer,
  buffer,
  data_processor,
}: Config): Generator<[key: string, name: string, mayBeEmpty?: boolean]> {
  yield ['project', project]
  // no group at all is the usual case
  yield ['group', group, true]
  yield ['name', name]
  yield ['explorer.name', explorer.name]
  yield ['trainer.name', trainer.name]
  const { experience_buffer: main, auxiliary_buffers: more } = buffer.trainer_input
  if (main) yield [`${MAIN}.name`, main.name, true]
  for (const [key, one] of Object.entries(more)) {
    yield [`${AUXILIARY}.${key}`, key]
    yield [`${AUXILIARY}.${key}.name`, one.name, true]
  }
  const { inputs, output } = data_processor.experience_pipeline
  if (output) yield [`${PIPELINE}.output.name`, output.name, true]
  for (const [key, one] of Object.entries(inputs)) {
    yield [`${PIPELINE}.inputs.${key}`, key]
    yield [`${PIPELINE}.inputs.${key}.name`, one.name, true]
  }
}
