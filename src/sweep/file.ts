import { existsSync, readFileSync } from 'node:fs'
import { basename, dirname, isAbsolute, join } from 'node:path'
import { argumentProblems } from '../base/arguments.js'
import { TrinityError } from '../base/error.js'
import { unreadable } from '../base/file/system-error.js'
import { markOf, plain } from '../config/node.js'
import { Problems } from '../config/problem.js'
import { parseYaml } from '../config/yaml.js'
import { type SweepSpec, sweepSchema } from './spec.js'

/** Reads a sweep file. Paths in it start from its folder; its name is that of the sweep where it gives none. */
export function readSweep(file: string): SweepSpec {
  if (!existsSync(file)) {
    throw new TrinityError('config/not-found', `no file ${file}`, {
      path: file,
      hint: 'give a sweep file, or configurations with -c; docs/sweep.md shows both',
    })
  }
  return parseSweep(textOf(file), file)
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    throw unreadable(file, cause, 'config/unreadable')
  }
}

export function parseSweep(text: string, file: string): SweepSpec {
  const problems = new Problems()
  const tree = parseYaml(text, file, problems)
  const given = plain(tree)
  const parsed = sweepSchema.safeParse(given)
  if (!parsed.success) {
    for (const { key, message, hint } of argumentProblems(sweepSchema, given, parsed.error.issues)) {
      problems.error('sweep', key, message === 'unknown argument' ? 'unknown key' : message, markOf(tree, key), hint)
    }
  }
  problems.throwIfErrors(file)
  return local(sweepSchema.parse(given), file)
}

function local(spec: SweepSpec, file: string): SweepSpec {
  const at = (path: string) => (isAbsolute(path) ? path : join(dirname(file), path))
  const arms = Object.entries(spec.arms).map(([name, arm]) => {
    return [name, arm?.config === undefined ? arm : { ...arm, config: at(arm.config) }] as const
  })
  return {
    ...spec,
    name: spec.name ?? basename(file).replace(/\.ya?ml$/, ''),
    config: spec.config === undefined ? undefined : at(spec.config),
    arms: Object.fromEntries(arms),
    plugin_dirs: spec.plugin_dirs.map(at),
  }
}
