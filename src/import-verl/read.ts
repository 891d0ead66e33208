import { TrinityError } from '../base/error.js'
import type { Source } from './map/mapping.js'
import { readOverrides } from './settings.js'
import { readScript } from './shell/walk.js'
import { looksLikeVerl, parseYaml, readVerlYaml } from './yaml-source.js'

/** Finds the veRL settings in a text: those of a YAML file, or those of the first trainer that a script launches. */
export function readSource(
  text: string,
  name: string,
  scaleSteps: boolean,
): { source: Source; origin: string; notes: string[] } {
  const isYaml = /\.ya?ml$/i.test(name)
  const root = isYaml || !/(^|\s)-m\s/.test(text) ? parseYaml(text) : undefined
  if (looksLikeVerl(root)) {
    const { settings, notes } = readVerlYaml(root)
    return { source: { settings, unknown: [], complete: true, scaleSteps }, origin: name, notes }
  }
  if (isYaml) {
    throw new TrinityError(
      'verl/not-verl',
      root === undefined ? 'this is not valid YAML' : 'this YAML has none of the sections of a veRL configuration',
      {
        path: name,
        hint: 'veRL files have sections such as actor_rollout_ref, data and trainer; a Trinity file needs no import',
      },
    )
  }
  const script = readScript(text, name)
  const trainers = script.launches.filter((launch) => !/sft|eval|generation|merge/i.test(launch.module))
  const launch = trainers[0]
  if (launch === undefined) {
    const other = script.launches[0]
    throw new TrinityError(
      'verl/no-launch',
      other
        ? `line ${other.line} starts ${other.module}, which is not a reinforcement learning trainer`
        : 'no command starts a veRL trainer',
      {
        path: name,
        hint: 'expected `python3 -m verl.trainer.main_ppo key=value …` (supervised training is a stage with algorithm_type sft in Trinity)',
      },
    )
  }
  const { settings, notes, configName } = readOverrides(launch.words)
  const all = [...script.notes, ...notes]
  for (const skipped of trainers.slice(1))
    all.push(`line ${skipped.line}: another launch (${skipped.module}) was not imported`)
  if (configName !== undefined)
    all.push(
      `the hydra configuration '${configName}' is not read; for keys it sets, veRL's own defaults are assumed (import that YAML by itself to see them)`,
    )
  const defaults = [...script.variables.defaults].filter(([variable]) => !script.variables.exported.has(variable))
  if (defaults.length > 0)
    all.push(
      `taken as not set in the environment, so the script's own defaults apply: ${defaults.map(([variable]) => variable).join(', ')}`,
    )
  if (script.variables.exported.size > 0)
    all.push(
      `exported by the script, set them yourself if they are needed: ${[...script.variables.exported].join(', ')}`,
    )
  const unknown = script.variables.unknown.map((entry) => entry.source)
  return {
    source: { settings, module: launch.module, configName, unknown, complete: false, scaleSteps },
    origin: `${name}, line ${launch.line}: ${launch.module}`,
    notes: all,
  }
}
