import { timeSlice } from '../../base/time-slice.js'
import type { EpisodeSpec } from '../environment.js'
import { Game, type GameSource } from './game.js'
import { gameFileAt, placeOf, readGameFile, sourceIn } from './source.js'
import type { WordingName } from './wording.js'

/** Games that were read last: a group of episodes plays the same one. */
const KEPT = 256
const games = new Map<string, { readonly like: Likeness; readonly game: Game }>()

/** What games under the same key may differ in. */
type Likeness = readonly unknown[]

/** The game of an episode, read when nobody has it. `folder` is where relative paths start. */
export async function gameOf(spec: EpisodeSpec, wording: WordingName, folder: string | undefined): Promise<Game> {
  const place = placeOf(spec, folder)
  if ('path' in place) {
    const { path, version } = await gameFileAt(place.path)
    const like = [wording, version]
    return recall(path, like) ?? read(path, like, wording, () => readGameFile(path))
  }
  const source = sourceIn(place.row, String(place.row.id ?? 'pddl_problem'))
  const { task, logic, walkthrough } = source
  const like = [wording, task, logic.domain, logic.grammar, walkthrough?.join()]
  return recall(source.problem, like) ?? read(source.problem, like, wording, async () => source)
}

/** Each takes milliseconds, so that a thousand at once would stop everything else: they take turns. */
async function read(
  key: string,
  like: Likeness,
  wording: WordingName,
  source: () => Promise<GameSource>,
): Promise<Game> {
  const found = await source()
  await timeSlice()
  return recall(key, like) ?? keep(key, like, new Game(found, wording))
}

function recall(key: string, like: Likeness): Game | undefined {
  const known = games.get(key)
  if (!known?.like.every((part, at) => part === like[at])) return undefined
  games.delete(key)
  games.set(key, known)
  return known.game
}

function keep(key: string, like: Likeness, game: Game): Game {
  games.set(key, { like, game })
  if (games.size > KEPT) games.delete(games.keys().next().value!)
  return game
}
