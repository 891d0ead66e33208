import { checkNames, hintOf } from './check-names.js'
import type { Dict } from './field.js'
import { noteIdleKeys } from './idle.js'
import { mergeStage } from './merge.js'
import { layoutFault, nameFault } from './name.js'
import { at, child, type MapNode, type ScalarNode, without } from './node.js'
import type { Problems } from './problem.js'
import { type Config, config } from './section/config.js'
import { checkTrainerConfig } from './trainer-config.js'
import { validate } from './validate.js'

export interface ParsedStage {
  /** Null for a file without stages. */
  readonly name: string | null
  /** Checked and with defaults, nothing derived. */
  readonly config: Config
  /** As written, for the places of keys. */
  readonly tree: MapNode
}

/** A configuration as it was read: one for each stage, and the problems that were found. */
export interface Parsed {
  readonly file: string
  /** Not everything stands in the file. */
  readonly isOverridden?: boolean
  readonly stages: readonly ParsedStage[]
  readonly problems: Problems
}

/** Checks the whole file and gives one configuration for each stage. */
export function parseStages(tree: MapNode, file: string, problems: Problems): Parsed {
  const list = child(tree, 'stages')
  const outer = without(tree, ['stages'])
  if (list?.kind !== 'list' || list.items.length === 0) {
    const value = checked(tree, problems)
    checkNames(value, tree, problems)
    return { file, stages: [{ name: null, config: { ...value, stages: [] }, tree: outer }], problems }
  }
  validate(config, tree, problems)
  const names = new Set<string>()
  const stages: ParsedStage[] = []
  list.items.forEach((stage, i) => {
    if (stage.kind !== 'map') return
    const nameNode = child(stage, 'stage_name')
    const name = nameNode?.kind === 'scalar' && nameNode.type !== 'null' ? nameNode.text : ''
    const key = `stages[${i}].stage_name`
    const given = nameNode?.kind === 'scalar' && nameNode.type !== 'null'
    const fault = given ? (nameFault(name) ?? layoutFault(name, true)) : undefined
    if (fault !== undefined) {
      problems.error('name', key, `the name ${fault}`, nameNode?.mark, hintOf(nameNode as ScalarNode))
    }
    if (names.has(name))
      problems.error('value', key, `there are two stages named ${name}`, nameNode?.mark ?? stage.mark)
    names.add(name)
    const merged = mergeStage(outer, stage)
    // problems of a stage are found in the whole file above, under their own key
    const value = checked(merged, problems, true)
    checkNames(value, merged, problems, (one) => (at(stage, one) === undefined ? one : `stages[${i}].${one}`))
    stages.push({ name, config: { ...value, name: `${value.name}/${name}`, stages: [] }, tree: merged })
  })
  return { file, stages, problems }
}

function checked(tree: MapNode, problems: Problems, again = false): Config {
  const value = validate(config, tree, again ? quiet(problems) : problems)
  const backend: Dict | undefined = checkTrainerConfig(tree, problems)
  noteIdleKeys(tree, problems)
  return { ...value, trainer: { ...value.trainer, trainer_config: backend ?? value.trainer.trainer_config } }
}

function quiet(problems: Problems): Problems {
  return Object.create(problems, { add: { value: () => {} } }) as Problems
}
