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
  const sums = { won: 0, score: 0, steps: 0 }
  for (let at = 0; at < episodes; at++) {
    const { title, episode } = await game.begin(at)
    const model = player(at)
    const tell = (text: string) => void (quiet || print(text))
    tell(title)
    const system = episode.messages().find(({ role }) => role === 'system')
    if (system) tell(block('system', system.content))
    while (!episode.over) {
      const messages = episode.messages()
      tell(block('world', messages[messages.length - 1].content))
      const reply = await model.reply(messages)
      if (reply === undefined) {
        tell('the conversation no longer fits into the model: the episode ends here')
        break
      }
      tell(block('model', reply))
      await episode.reply(reply)
      tell(`${acted(episode.turn.past.at(-1)?.action)}; ${outcome(episode)}`)
    }
    print(quiet ? `${title}: ${ending(episode)}` : ending(episode))
    sums.won += episode.won ? 1 : 0
    sums.score += episode.score
    sums.steps += episode.turn.step
  }
  return { episodes, won: sums.won, score: sums.score / episodes, steps: sums.steps / episodes }
}

/** The sum of what was seen. */
export function summary({ episodes, won, score, steps }: Watched): string {
  const share = figure(won / episodes)
  return `${episodes} episodes: success ${share} (${won}), mean score ${figure(score)}, mean steps ${figure(steps)}`
}

function acted(action: string | undefined): string {
  return action === undefined ? 'no action' : `action: ${action}`
}

function block(who: string, text: unknown): string {
  return `── ${who} ──\n${String(text)}`
}
