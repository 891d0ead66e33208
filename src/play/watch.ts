import type { ChatMessage } from '../model/index.js'
import type { Game } from './game.js'
import { ending, figure, outcome } from './show.js'

/** Somebody who is told messages and replies. */
export interface Player {
  /** Undefined: the messages do not fit any more. */
  reply(messages: readonly ChatMessage[]): Promise<string | undefined>
}

export interface Watched {
  readonly episodes: number
  readonly won: number
  readonly score: number
  readonly steps: number
  /** Episodes that ended because the conversation did not fit into the model any more. */
  readonly unfit: number
}

export interface WatchOptions {
  readonly episodes: number
  /** For each episode one that knows of no other. */
  readonly player: (episode: number) => Player
  readonly print: (text: string) => void
  /** Only how each episode ended. */
  readonly quiet?: boolean
}

/** Lets a player play, shows what is said, and counts. */
export async function watch(game: Game, { episodes, player, print, quiet = false }: WatchOptions): Promise<Watched> {
  const sums = { won: 0, score: 0, steps: 0, unfit: 0 }
  for (let at = 0; at < episodes; at++) {
    const { title, episode } = await game.begin(at)
    const model = player(at)
    const tell = (text: string) => void (quiet || print(text))
    tell(title)
    const system = episode.messages().find(({ role }) => role === 'system')
    if (system) tell(block('system', system.content))
    let fits = true
    while (!episode.over) {
      const messages = episode.messages()
      tell(block('world', messages[messages.length - 1].content))
      const reply = await model.reply(messages)
      if (reply === undefined) {
        fits = false
        break
      }
      tell(block('model', reply))
      await episode.reply(reply)
      tell(`${acted(episode.turn.past.at(-1)?.action)}; ${outcome(episode)}`)
    }
    const end = ending(episode, fits)
    print(quiet ? `${title}: ${end}` : end)
    sums.won += episode.won ? 1 : 0
    sums.score += episode.score
    sums.steps += episode.turn.step
    sums.unfit += fits ? 0 : 1
  }
  return { episodes, won: sums.won, score: sums.score / episodes, steps: sums.steps / episodes, unfit: sums.unfit }
}

/** The sum of what was seen. */
export function summary({ episodes, won, score, steps, unfit }: Watched): string {
  const share = figure(won / episodes)
  const cut = unfit === 0 ? '' : `; ${unfit} did not fit into the model`
  return `${episodes} episodes: success ${share} (${won}), mean score ${figure(score)}, mean steps ${figure(steps)}${cut}`
}

function acted(action: string | undefined): string {
  return action === undefined ? 'no action' : `action: ${action}`
}

function block(who: string, text: unknown): string {
  return `── ${who} ──\n${String(text)}`
}
