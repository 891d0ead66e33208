import { nearest } from './nearest.js'

/** Commands that are typed among other lines, such as `:undo`: name → what it does. */
export type ColonCommands = Readonly<Record<string, string>>

/** The name that a word stands for: its beginning is enough where no other has it. */
export function commandOf(word: string, commands: ColonCommands): string | undefined {
  if (Object.hasOwn(commands, word)) return word
  const names = Object.keys(commands).filter((name) => name.startsWith(word))
  return names.length === 1 ? names[0] : undefined
}

export function unknownCommand(word: string, commands: ColonCommands): string {
  const near = nearest(word, Object.keys(commands))
  return `there is no command :${word}${near ? `; did you mean :${near}?` : ''} (:help lists them)`
}

export function commandHelp(commands: ColonCommands): string {
  return Object.entries(commands)
    .map(([name, what]) => `  :${name.padEnd(11)} ${what}`)
    .join('\n')
}
