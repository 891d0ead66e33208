import { isUtf8 } from 'node:buffer'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { basename, dirname, isAbsolute, resolve } from 'node:path'
import { messageOf, TrinityError } from '../base/error.js'
import { rememberAssignment, rememberEnvironment } from '../base/secret/index.js'
import { applyAliases } from './alias.js'
import { type Env, interpolate, interpolateText } from './interpolate.js'
import { merge } from './merge.js'
import {
  at,
  child,
  type MapNode,
  type Node,
  pathParts,
  plain,
  removeAt,
  type ScalarNode,
  withNode,
  without,
} from './node.js'
import { Problems } from './problem.js'
import { rememberSecrets } from './secret.js'
import { type Parsed, parseStages } from './stages.js'
import { wrapTrainerConfig } from './trainer-config.js'
import { parseValue, parseYaml } from './yaml.js'

/** What a configuration is read with, beside its file. */
export interface LoadOptions {
  readonly env?: Env
  readonly cwd?: string
  /** `key.path=value` in order; each wins over the file. */
  readonly set?: readonly string[]
}

/** A file with its present names, and as it was written. */
interface Trees {
  tree: MapNode
  written: MapNode
}

interface Reading {
  readonly cwd: string
  readonly env: Env
  readonly problems: Problems
}

/**
 * Reads and checks a configuration file, without deriving anything. Throws one error with all problems.
 * @example
 * import { ConfigError, loadConfig } from 'trinity-rft/config'
 *
 * try {
 *   const { stages } = loadConfig('job.yaml', { set: ['buffer.batch_size=8'] })
 *   console.log(stages.length)
 * } catch (error) {
 *   if (error instanceof ConfigError) console.log(error.problems)
 * }
 */
export function loadConfig(file: string, options: LoadOptions = {}): Parsed {
  return sound(readConfig(file, options))
}

/** Like loadConfig, with the problems in the result: `resolveConfig` finds the rest and throws them all. */
export function readConfig(file: string, options: LoadOptions = {}): Parsed {
  const reading = readingOf(options)
  return finish(readTrees(resolve(reading.cwd, file), file, [], reading), file, options, reading)
}

/** Reads and checks a configuration from a text, as `loadConfig` does from a file. `extends` is read from the current folder. */
export function parseConfig(text: string, file: string, options: LoadOptions = {}): Parsed {
  return sound(readText(text, file, options))
}

export function readText(text: string, file: string, options: LoadOptions = {}): Parsed {
  const reading = readingOf(options)
  const path = resolve(reading.cwd, file)
  return finish(extendTrees(parseYaml(text, file, reading.problems), path, [path], reading), file, options, reading)
}

function sound(parsed: Parsed): Parsed {
  parsed.problems.throwIfErrors(parsed.file)
  return parsed
}

function readingOf(options: LoadOptions): Reading {
  const env = options.env ?? process.env
  rememberEnvironment(env)
  // it is echoed in commands and problems, before its key is known to be right
  for (const text of options.set ?? []) rememberAssignment(text)
  return { cwd: options.cwd ?? process.cwd(), env, problems: new Problems() }
}

function finish(trees: Trees, file: string, options: LoadOptions, { env, problems }: Reading): Parsed {
  const changed = (options.set ?? []).reduce(override, trees.tree)
  const present = changed === trees.tree ? changed : applyAliases(wrapTrainerConfig(changed), problems)
  const whole = interpolate(present, env, problems, trees.written)
  // before anything is said about its values
  rememberSecrets(plain(whole))
  return { ...parseStages(whole, file, problems), isOverridden: changed !== trees.tree }
}

function readTrees(path: string, shown: string, chain: readonly string[], reading: Reading): Trees {
  return extendTrees(parseYaml(contentOf(path, shown), shown, reading.problems), path, [...chain, path], reading)
}

/** The text of a configuration file. */
export function contentOf(path: string, shown: string): string {
  try {
    if (statSync(path).isDirectory()) {
      throw new TrinityError('config/not-found', 'this is a directory, not a configuration', {
        path: shown,
        hint: 'give the path of a YAML file in it',
      })
    }
    const bytes = readFileSync(path)
    if (isUtf8(bytes)) return bytes.toString('utf8')
    throw new TrinityError('config/encoding', 'the file is not UTF-8', {
      path: shown,
      hint: 'save it as UTF-8, for example: iconv -f latin1 -t utf-8 old.yaml > new.yaml',
    })
  } catch (error) {
    if (error instanceof TrinityError) throw error
    const missing = (error as NodeJS.ErrnoException).code === 'ENOENT'
    throw new TrinityError('config/not-found', missing ? `no file ${shown}` : messageOf(error), {
      path: shown,
      hint: missing ? 'give the path of a YAML configuration' : undefined,
      cause: error,
    })
  }
}

/** Brings older keys up to date and lays the file over the ones it extends. */
function extendTrees(raw: MapNode, path: string, chain: readonly string[], reading: Reading): Trees {
  const { env, problems } = reading
  const own = includeTrainerFile(without(raw, ['extends']), path, reading)
  let upper: Trees = { tree: applyAliases(wrapTrainerConfig(own), problems), written: own }
  const bases = child(raw, 'extends')
  if (!bases || (bases.kind === 'scalar' && bases.type === 'null')) return upper
  const list: readonly Node[] = bases.kind === 'list' ? bases.items : [bases]
  // the last base is the nearest: each is laid under what is above it
  for (const item of [...list].reverse()) {
    const base = item.kind === 'scalar' && item.type === 'str' ? interpolateText(item, env, problems) : item
    if (base.kind !== 'scalar' || base.type !== 'str') {
      if (!(base.kind === 'scalar' && base.failed)) {
        problems.error('extends', 'extends', 'expected a file name or a list of file names', item.mark)
      }
      continue
    }
    const lower = readBase(base, path, chain, reading)
    if (lower) upper = { tree: merge(lower.tree, upper.tree), written: merge(lower.written, upper.written) }
  }
  return upper
}

function readBase(base: ScalarNode, path: string, chain: readonly string[], reading: Reading): Trees | undefined {
  const name = base.value as string
  const file = isAbsolute(name) ? name : resolve(dirname(path), name)
  const { problems } = reading
  if (chain.includes(file)) {
    const circle = [...chain.slice(chain.indexOf(file)), file].map((link) => relative(link, path)).join(' → ')
    problems.error('extends', 'extends', `files extend each other in a circle: ${circle}`, base.mark)
    return undefined
  }
  try {
    return readTrees(file, relative(file, path, base.mark.file), chain, reading)
  } catch (error) {
    if (!(error instanceof TrinityError) || error.code !== 'config/not-found') throw error
    problems.error('extends', 'extends', error.message, base.mark, error.hint)
    return undefined
  }
}

const TRAINER_FILE = ['trainer', 'trainer_config_path']
const TRAINER_TREE = ['trainer', 'trainer_config']

/** Old files kept veRL's tree in a file of its own: its content is what now stands under trainer_config. */
function includeTrainerFile(tree: MapNode, beside: string, { cwd, env, problems }: Reading): MapNode {
  const node = at(tree, TRAINER_FILE.join('.'))
  if (node?.kind !== 'scalar' || node.type !== 'str' || node.text === '') return tree
  const named = interpolateText(node, env, problems)
  const name = named.kind === 'scalar' ? named.text : ''
  // written for the root of a checkout, or beside the configuration itself
  const places = [resolve(cwd, name), resolve(dirname(beside), name), resolve(dirname(beside), basename(name))]
  const path = places.find((place) => existsSync(place) && statSync(place).isFile())
  if (path === undefined) return tree
  const included = interpolate(parseYaml(contentOf(path, node.text), node.text, problems), env, problems)
  const given = at(tree, TRAINER_TREE.join('.'))
  problems.note('alias', TRAINER_FILE.join('.'), 'is read as trainer.trainer_config', node.mark)
  const whole = given?.kind === 'map' ? merge(included, given) : included
  return withNode(removeAt(tree, TRAINER_FILE), TRAINER_TREE, whole) as MapNode
}

/** A file as it is shown: beside the file that names it, in the same style. */
function relative(file: string, beside: string, shown = ''): string {
  const folder = dirname(beside)
  if (!file.startsWith(`${folder}/`)) return file
  const rest = file.slice(folder.length + 1)
  const prefix = shown.includes('/') ? `${dirname(shown)}/` : ''
  return prefix + rest
}

function override(tree: MapNode, text: string): MapNode {
  const equals = text.indexOf('=')
  const key = text.slice(0, equals).trim()
  if (equals < 0 || pathParts(key).length === 0) {
    // the text may be a secret whose key was forgotten
    throw new TrinityError('cli/usage', 'what follows --set is not of the form key.path=value', {
      path: equals > 0 ? `--set ${key}` : '--set',
      hint: 'write --set key.path=value, without spaces around the =',
    })
  }
  const node = parseValue(text.slice(equals + 1), `--set ${key}`)
  return withNode(tree, pathParts(key), node) as MapNode
}
