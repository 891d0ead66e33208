import { readFileSync, statSync } from 'node:fs'
import { dirname, isAbsolute, resolve } from 'node:path'
import { messageOf, TrinityError } from '../error.js'
import { applyAliases } from './alias.js'
import { type Env, interpolate, interpolateText } from './interpolate.js'
import { merge } from './merge.js'
import { child, type MapNode, type Node, pathParts, withNode, without } from './node.js'
import { Problems } from './problem.js'
import { type Parsed, parseStages } from './stages.js'
import { wrapTrainerConfig } from './trainer-config.js'
import { parseValue, parseYaml } from './yaml.js'

export interface LoadOptions {
  readonly env?: Env
  readonly cwd?: string
  /** `key.path=value` in order; each wins over the file. */
  readonly set?: readonly string[]
}

/** Reads and checks a configuration file, without deriving anything. Throws one error with all problems. */
export function loadConfig(file: string, options: LoadOptions = {}): Parsed {
  const cwd = options.cwd ?? process.cwd()
  const problems = new Problems()
  const tree = readTree(resolve(cwd, file), file, [], options.env ?? process.env, problems)
  return finish(tree, file, options, problems)
}

/** The same for a text that is not in a file. `extends` is read from the current folder. */
export function parseConfig(text: string, file: string, options: LoadOptions = {}): Parsed {
  const problems = new Problems()
  const path = resolve(options.cwd ?? process.cwd(), file)
  const tree = extendTree(parseYaml(text, file), path, [path], options.env ?? process.env, problems)
  return finish(tree, file, options, problems)
}

function finish(tree: MapNode, file: string, options: LoadOptions, problems: Problems): Parsed {
  const changed = (options.set ?? []).reduce(override, tree)
  const present = changed === tree ? tree : applyAliases(wrapTrainerConfig(changed), problems)
  const whole = interpolate(present, options.env ?? process.env, problems)
  const parsed = parseStages(whole, file, problems)
  problems.throwIfErrors(file)
  return parsed
}

function readTree(path: string, shown: string, chain: readonly string[], env: Env, problems: Problems): MapNode {
  return extendTree(parseYaml(readText(path, shown), shown), path, [...chain, path], env, problems)
}

function readText(path: string, shown: string): string {
  try {
    if (statSync(path).isDirectory()) {
      throw new TrinityError('config/not-found', 'this is a directory, not a configuration', { path: shown })
    }
    return readFileSync(path, 'utf8')
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
function extendTree(tree: MapNode, path: string, chain: readonly string[], env: Env, problems: Problems): MapNode {
  const upper = applyAliases(wrapTrainerConfig(without(tree, ['extends'])), problems)
  const bases = child(tree, 'extends')
  if (!bases || (bases.kind === 'scalar' && bases.type === 'null')) return upper
  const list: readonly Node[] = bases.kind === 'list' ? bases.items : [bases]
  let lower: MapNode | undefined
  for (const item of list) {
    const base = item.kind === 'scalar' && item.type === 'str' ? interpolateText(item, env, problems) : item
    if (base.kind !== 'scalar' || base.type !== 'str') {
      if (!(base.kind === 'scalar' && base.failed)) {
        problems.error('extends', 'extends', 'expected a file name or a list of file names', item.mark)
      }
      continue
    }
    const name = base.value as string
    const file = isAbsolute(name) ? name : resolve(dirname(path), name)
    if (chain.includes(file)) {
      const circle = [...chain.slice(chain.indexOf(file)), file].map((link) => relative(link, path)).join(' → ')
      problems.error('extends', 'extends', `files extend each other in a circle: ${circle}`, item.mark)
      continue
    }
    try {
      const read = readTree(file, relative(file, path, item.mark.file), chain, env, problems)
      lower = lower ? merge(lower, read) : read
    } catch (error) {
      if (!(error instanceof TrinityError) || error.code !== 'config/not-found') throw error
      problems.error('extends', 'extends', error.message, item.mark, error.hint)
    }
  }
  return lower ? merge(lower, upper) : upper
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
    throw new TrinityError('cli/usage', `'${text}' is not of the form key.path=value`, { path: '--set' })
  }
  const node = parseValue(text.slice(equals + 1), `--set ${key}`)
  return withNode(tree, pathParts(key), node) as MapNode
}
