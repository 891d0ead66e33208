import { commandHelp, commandOf, unknownCommand } from '../base/colon-command.js'
import { TrinityError } from '../base/error.js'
import { visible } from '../base/terminal/visible.js'
import type { ViewStream } from '../monitor/terminal/live.js'
import { Beside } from './beside.js'
import { columns } from './columns.js'
import type { Reply } from './reply.js'
import { probabilityTable } from './spoken-token.js'
import type { Talk } from './talk.js'

/** Where a person sits: lines come in, text goes out. */
export interface Desk {
  readonly lines: AsyncIterable<string>
  /** As it is, without the end of a line. */
  write(text: string): void
  /** Asks for the next line. */
  ask(): void
  /** Whether what is being said is still wanted; a new one for every answer. */
  answering(): AbortSignal
  /** The terminal that it is written to; undefined: a file or a program, which gets texts as they are. */
  readonly screen?: ViewStream
  /** Characters of a line. */
  readonly width: number
}

const COMMANDS = {
  reset: 'forget what was said',
  system: 'rules for the model, and begin again: :system You are a pirate.',
  temperature: 'how much chance there is in replies: :temperature 0.7',
  undo: 'take the last question and its answer back',
  help: 'these commands',
  quit: 'end',
}

/** Errors of a chat template that concern one question: the conversation continues with the next one. */
const TEMPLATE_ERRORS = ['template/limit', 'chat/render']

/** Talks until there are no more lines. A line that begins with `:` is a command. */
export async function converse(talks: readonly Talk[], desk: Desk): Promise<void> {
  const print = (text: string) => desk.write(`${text}\n`)
  const commands: Record<string, (rest: string) => void> = {
    reset: () => {
      for (const talk of talks) talk.reset()
      print('forgotten')
    },
    system: (rest) => {
      for (const talk of talks) talk.reset(rest === '' ? undefined : rest)
      print(rest === '' ? 'forgotten; the rules are as before' : 'forgotten; these are the rules now')
    },
    temperature: (rest) => {
      const value = Number(rest)
      if (rest === '' || !(value >= 0) || !Number.isFinite(value)) return print('give a number from 0, such as 0.7')
      for (const talk of talks) talk.temperature = value
    },
    undo: () => {
      const undone = talks.map((talk) => talk.undo())
      print(undone.includes(true) ? 'taken back' : 'nothing has been said')
    },
    help: () => print(commandHelp(COMMANDS)),
  }
  desk.ask()
  for await (const line of desk.lines) {
    const text = line.trim()
    const [, word, rest] = /^:([a-z]+)\s*(.*)$/i.exec(text) ?? []
    const name = word && commandOf(word.toLowerCase(), COMMANDS)
    if (name === 'quit') return
    if (name) commands[name](rest)
    else if (word) print(unknownCommand(word, COMMANDS))
    // `::x` is the text `:x`
    else if (text !== '') await answer(talks, text.startsWith('::') ? text.slice(1) : text, desk, { turn: true })
    desk.ask()
  }
}

/** One question: a reply as it comes, or several side by side. Where it is a `turn`, there are commands beside it. */
export async function answer(
  talks: readonly Talk[],
  text: string,
  desk: Omit<Desk, 'lines' | 'ask'>,
  { turn = false }: { turn?: boolean } = {},
): Promise<void> {
  const signal = desk.answering()
  const earlier = talks.some((talk) => talk.hasBegun)
  const shown = (part: string) => (desk.screen ? visible(part) : part)
  const replies: Reply[] = []
  try {
    const beside = talks.length > 1 ? new Beside(talks, desk) : undefined
    try {
      for (const [i, talk] of talks.entries()) {
        const hear = beside ? (part: string) => beside.add(i, part) : (part: string) => desk.write(shown(part))
        replies.push(await talk.say(text, hear, signal))
      }
    } finally {
      beside?.clear()
    }
  } catch (error) {
    const refused = turn && error instanceof TrinityError && TEMPLATE_ERRORS.includes(error.code)
    if (!signal.aborted && !refused) throw error
    for (const talk of talks.slice(0, replies.length)) talk.undo()
    desk.write(`\n(${refused ? shown(error.message) : 'stopped'}: the question was taken back)\n`)
    return
  }
  const full = replies.find(({ end }) => end === 'full')
  // the reply of the other model is worth having
  if (full && !turn && talks.length === 1) throw tooLong(full)
  if (talks.length > 1)
    desk.write(
      columns(
        talks.map(({ name }, i) => ({ title: name, text: shown(replies[i].text) })),
        desk.width,
      ),
    )
  desk.write('\n')
  for (const [i, { tokens }] of replies.entries()) {
    const title = talks.length > 1 ? `${talks[i].name}\n` : ''
    if (tokens.length > 0) desk.write(`${title}${shown(probabilityTable(tokens))}\n`)
  }
  if (replies.some(({ end }) => end === 'length')) desk.write('(cut: --max-tokens allows longer replies)\n')
  const cut = replies.find(({ end }) => end === 'context')
  if (cut) desk.write(`(cut: the context of ${cut.context} tokens is full${turn ? '; :reset makes room' : ''})\n`)
  if (!full) return
  if (!turn) throw tooLong(full)
  const fix = earlier ? ':reset forgets what was said' : 'ask something shorter'
  desk.write(`(this does not fit into the context of ${full.context} tokens: ${fix})\n`)
}

function tooLong({ context }: Reply): TrinityError {
  return new TrinityError('cli/question', `the question does not fit into the context of ${context} tokens`, {
    hint: 'ask something shorter, shorten --system, or use a model with a longer context',
  })
}
