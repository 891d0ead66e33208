/** A launch script of veRL becomes a configuration: a reader of shell, and tables of what each key means here. */

import { resolveInterpolations } from './interpolation.js'
import { mapAlgorithm } from './map/algorithm.js'
import { applyRule } from './map/apply.js'
import { VERL_DEFAULTS } from './map/defaults.js'
import { mapGpus } from './map/explorer.js'
import { Mapping, type Unmapped } from './map/mapping.js'
import { mapBatches, mapHeader, mapModel, mapSteps } from './map/sections.js'
import { mapTasksets } from './map/tasksets.js'
import { mapTrainer } from './map/trainer.js'
import { readSource } from './read.js'
import { requireSettings } from './settings.js'
import { ALWAYS_SET } from './shell/variables.js'
import { clean, writeYaml } from './write.js'

export interface ImportOptions {
  /** Name shown in messages and comments; an extension .yaml or .yml says that it is one. */
  name?: string
  /** Multiply numbers of steps by sync_interval, for the same amount of training as veRL. */
  scaleSteps?: boolean
}

/** What a veRL script or YAML becomes. */
export interface VerlImport {
  yaml: string
  /** veRL settings without a counterpart. */
  missing: Unmapped[]
  /** Settings that need no line: Trinity does so anyway, or another line says it. */
  covered: Unmapped[]
  /** What was assumed or could not be known. */
  notes: string[]
}

/** A veRL launch script or YAML to a Trinity YAML. Nothing is run. Wrong input ends in a TrinityError. */
export function importVerlText(text: string, options: ImportOptions = {}): VerlImport {
  const name = options.name ?? 'script'
  const { source, origin, notes } = readSource(text, name, options.scaleSteps ?? false)
  requireSettings(source.settings, name)
  const { open, derived } = resolveInterpolations(source.settings, VERL_DEFAULTS)
  const mapping = new Mapping(source)
  mapping.notes.push(...notes.map((note) => mapping.describe(note)))
  for (const [key, reference] of open) mapping.notes.push(`${key}: ${reference} could not be resolved`)
  mapHeader(mapping)
  mapping.draft.section(
    'algorithm',
    'model',
    'cluster',
    'buffer',
    'explorer.rollout_model',
    'synchronizer',
    'trainer',
    'data_processor',
    'monitor',
  )
  mapAlgorithm(mapping)
  mapModel(mapping)
  mapGpus(mapping)
  const interval = mapBatches(mapping)
  mapTasksets(mapping)
  mapSteps(mapping, interval)
  mapTrainer(mapping)
  for (const setting of mapping.settings.values()) applyRule(mapping, setting, derived)
  mapping.draft.remark(
    'buffer.explorer_input',
    'veRL scores answers in Python by data source; say here how tasks are run and scored:\ndefault_workflow_type: math_workflow\ndefault_reward_fn_type: math_reward',
  )
  noteEnvironment(mapping)
  return { yaml: compose(mapping, origin), missing: mapping.missing, covered: mapping.covered, notes: mapping.notes }
}

/** Environment variables the new file needs because the script did: without them it does not load. */
function noteEnvironment(mapping: Mapping): void {
  const names = new Set([...writeYaml(mapping.draft).matchAll(/\$\{oc\.env:(\w+)\}/g)].map((match) => match[1]))
  const needed = [...names].filter((name) => !ALWAYS_SET.has(name))
  if (needed.length > 0) mapping.notes.push(`set in the environment before this file is used: ${needed.join(', ')}`)
}

/** The YAML with a head that says where it comes from and a tail with everything that has no counterpart. */
function compose(mapping: Mapping, origin: string): string {
  const head = [
    `Imported from ${origin}`,
    'by `trinity import-verl`. The comment at the end of a line is the veRL key it comes from.',
    ...mapping.notes.map((note) => `Note: ${note}.`),
  ]
  const tail: string[] = []
  if (mapping.missing.length > 0) {
    tail.push('', 'No counterpart in Trinity:')
    for (const { key, raw, reason } of mapping.missing) tail.push(`  ${key}=${raw}: ${reason}`)
  }
  if (mapping.covered.length > 0) {
    tail.push('', 'Needs no line of its own:')
    for (const { key, raw, reason } of mapping.covered) tail.push(`  ${key}=${raw}: ${reason}`)
  }
  const comment = (lines: string[]) => lines.map((line) => clean(`# ${line}`)).join('\n')
  return `${comment(head)}\n${writeYaml(mapping.draft)}${tail.length > 0 ? `${comment(tail)}\n` : ''}`
}
