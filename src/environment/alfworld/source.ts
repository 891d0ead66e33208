import { readFile, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { TrinityError } from '../../base/error.js'
import { isJsonObject } from '../../base/file/json-file.js'
import { reading } from '../../base/file/system-error.js'
import { parseJsonText } from '../../base/json-text.js'
import type { EpisodeSpec } from '../environment.js'
import { DOMAIN } from './builtin/domain.js'
import { GRAMMAR } from './builtin/grammar.js'
import type { GameSource } from './game.js'

/** The name of a game's file in the folders of ALFWorld. */
const GAME_FILE = 'game.tw-pddl'

/** Where the game of an episode is: in the row itself, or in a file. */
export type Place = { readonly row: Record<string, unknown> } | { readonly path: string }

export function placeOf({ row, text }: EpisodeSpec, folder: string | undefined): Place {
  if (row.pddl_problem !== undefined) return { row }
  const path = row.game_file ?? text
  if (typeof path === 'string' && path.trim() !== '') return { path: resolve(folder ?? '', path) }
  throw new TrinityError('environment/row', 'the row names no game', {
    path: 'game_file',
    hint: `give the path of a ${GAME_FILE} in the column 'game_file', or the game itself in 'pddl_problem' and 'task'`,
  })
}

/** The file of a game, also when its folder is named. */
export async function gameFileAt(path: string): Promise<{ path: string; version: string }> {
  const hint = 'set ALFWORLD_DATA to the folder that relative paths start from; alfworld-download fetches the games'
  const found = await reading(stat(path), path, 'environment/game-file').catch((cause: TrinityError) => {
    throw new TrinityError('environment/game-file', cause.message, { path, hint, cause })
  })
  if (found.isDirectory()) return gameFileAt(join(path, GAME_FILE))
  return { path, version: `${found.mtimeMs}:${found.size}` }
}

export async function readGameFile(path: string): Promise<GameSource> {
  const text = await reading(readFile(path, 'utf8'), path, 'environment/game-file')
  let data: unknown
  try {
    data = parseJsonText(text)
  } catch (cause) {
    throw broken(`it is no JSON: ${(cause as Error).message}`, path)
  }
  if (!isJsonObject(data)) throw broken('it is not an object', path)
  return sourceIn(data, path)
}

/** A game from its fields. What it does not say itself is ALFWorld's. */
export function sourceIn(fields: Record<string, unknown>, path: string): GameSource {
  const { pddl_problem: problem, pddl_domain: domain = DOMAIN, grammar = GRAMMAR, walkthrough, task } = fields
  if (typeof problem !== 'string') throw broken("'pddl_problem' is not a text", path)
  if (typeof domain !== 'string') throw broken("'pddl_domain' is not a text", path)
  if (typeof grammar !== 'string') throw broken("'grammar' is not a text", path)
  if (walkthrough != null && !isCommands(walkthrough)) throw broken("'walkthrough' is not a list of commands", path)
  if (task != null && typeof task !== 'string') throw broken("'task' is not a text", path)
  const own = grammar === GRAMMAR ? BUILT_IN : taskIn(grammar)
  return {
    logic: { domain, grammar: own.grammar, path },
    problem,
    task: task ?? own.task,
    walkthrough: walkthrough ?? undefined,
    path,
  }
}

const TASK = /("task"\s*:\s*\[\s*\{\s*"rhs"\s*:\s*)("(?:[^"\\]|\\.)*")/

/** The sentence of the task stands in the grammar; without it, all games have the same. */
function taskIn(grammar: string): { grammar: string; task: string } {
  const quoted = TASK.exec(grammar)?.[2]
  if (quoted === undefined) return { grammar, task: '' }
  try {
    return { grammar: grammar.replace(TASK, '$1""'), task: JSON.parse(quoted) }
  } catch {
    return { grammar, task: '' }
  }
}

const BUILT_IN = taskIn(GRAMMAR)

function isCommands(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string')
}

function broken(what: string, path: string): TrinityError {
  return new TrinityError('environment/game-file', `cannot read the game: ${what}`, {
    path,
    hint: `a game is a ${GAME_FILE} of ALFWorld, or a row with 'pddl_problem' and 'task'`,
  })
}
