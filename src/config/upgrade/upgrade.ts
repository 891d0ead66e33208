import { TrinityError } from '../../base/error.js'
import { type MapNode, plain } from '../node.js'
import { ConfigError, type Problem, Problems } from '../problem.js'
import { wrapTrainerConfig } from '../trainer-config.js'
import { parseYaml } from '../yaml.js'
import { edited, Unwritable } from './edit.js'
import { presentTree } from './present.js'

export interface Upgrade {
  /** As it was, where the file is current. */
  readonly text: string
  /** What has another name now, and what has no effect any more. */
  readonly changes: readonly Problem[]
}

/** The text of a configuration with the present names of its keys; order, comments and layout stay. */
export function upgradeText(text: string, file: string): Upgrade {
  const problems = new Problems()
  const before = parseYaml(text, file, problems)
  const after = presentTree(before, problems)
  problems.throwIfErrors(file)
  if (isSame(wrapTrainerConfig(before), after)) return { text, changes: [] }
  const upgraded = rewritten(text, file, before, after)
  return { text: upgraded, changes: problems.all }
}

function rewritten(text: string, file: string, before: MapNode, after: MapNode): string {
  try {
    const upgraded = edited(text, before, after)
    // whatever was written, it must mean the same, and nothing old may be left
    if (isSame(wrapTrainerConfig(parseYaml(upgraded, file)), after)) return upgraded
    throw new Unwritable()
  } catch (cause) {
    if (!(cause instanceof Unwritable) && !(cause instanceof ConfigError)) throw cause
    throw new TrinityError('config/upgrade', `${file} cannot be rewritten by itself`, {
      path: file,
      hint: 'older keys stand in an anchor or are merged from one (<<): write them out, or rename them by hand',
      cause,
    })
  }
}

function isSame(a: MapNode, b: MapNode): boolean {
  return JSON.stringify(sorted(plain(a))) === JSON.stringify(sorted(plain(b)))
}

/** Order is for people, and an empty section says nothing. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (!isPlainObject(value)) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, one]) => !(isPlainObject(one) && Object.keys(one).length === 0))
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, one]) => [key, sorted(one)]),
  )
}

function isPlainObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
