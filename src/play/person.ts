import { commandHelp, commandOf, unknownCommand } from '../base/colon-command.js'
import type { Episode, EpisodeMark } from '../environment/index.js'
import type { Game } from './game.js'
import { ending, numbered, opening, outcome, seen, told } from './show.js'

/** Where a person sits: lines come in, text goes out. */
export interface Table {
  readonly lines: AsyncIterable<string>
  print(text: string): void
  /** Asks for the next line. */
  ask(): void
}

const COMMANDS: Readonly<Record<string, string>> = {
  admissible: 'what can be done now',
  goal: 'what is to be reached',
  prompt: 'all that a model would be told now',
  undo: 'take the last step back',
  reset: 'begin again',
  next: 'the next episode: the next row of the data, or the next seed',
  help: 'these commands',
  quit: 'end',
}

/** Lets a person play until there are no more lines. A line is an action; one that begins with `:` is a command. */
export async function playYourself(game: Game, { lines, print, ask }: Table): Promise<void> {
  let number = 0
  let marks: EpisodeMark[] = []
  let episode: Episode
  const begin = async () => {
    const play = await game.begin(number)
    episode = play.episode
    marks = []
    print(opening(play.title, episode))
  }
  const act = async (action: string) => {
    if (episode.over) return print('The episode is over: :reset begins again, :next the next one, :quit ends.')
    if (game.canUndo) marks.push(await episode.mark())
    await episode.act(action)
    print(`${seen(episode.turn)}\n${outcome(episode)}`)
    if (episode.over) print(ending(episode))
  }
  const commands: Readonly<Record<string, () => void | Promise<void>>> = {
    admissible: () => print(listed(episode.turn.admissible)),
    goal: () => print(episode.turn.goal ?? 'this world does not say'),
    prompt: () => print(told(episode)),
    undo: async () => {
      const mark = marks.pop()
      if (!mark) return print(game.canUndo ? 'this is the beginning' : 'this world cannot go back: :reset begins again')
      await episode.back(mark)
      print(seen(episode.turn))
    },
    reset: begin,
    next: () => {
      number++
      return begin()
    },
    help: () => print(HELP),
  }
  await begin()
  ask()
  for await (const line of lines) {
    const text = line.trim()
    const [, word] = /^:([a-z]*|\d+)$/i.exec(text) ?? []
    if (word === undefined) {
      // `::x` is the action `:x`.
      if (text !== '') await act(text.startsWith('::') ? text.slice(1) : text)
    } else if ('quit'.startsWith(word.toLowerCase()) && word !== '') return
    else if (/^\d+$/.test(word)) {
      const action = episode!.turn.admissible?.[Number(word) - 1]
      if (action === undefined) print(`there is no action ${word}`)
      else await act(action)
    } else {
      const name = commandOf(word.toLowerCase(), COMMANDS)
      if (name) await commands[name]()
      else print(unknownCommand(word, COMMANDS))
    }
    ask()
  }
}

const HELP = `${commandHelp(COMMANDS)}
  :3          the third of the actions that are listed`

function listed(actions: readonly string[] | undefined): string {
  if (actions === undefined) return 'this world does not list its actions'
  return actions.length === 0 ? 'nothing is left to do' : numbered(actions)
}
