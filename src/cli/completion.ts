import type { Command, Option } from 'commander'
import { TrinityError } from '../base/error.js'
import { SCRIPTS } from './completion-scripts.js'
import { valuesOf } from './completion-values.js'
import type { ExitCode } from './print.js'

/** `trinity completion`: a script for a shell, or, for that script, what the words of a line can go on with. */
export async function completion(program: Command, given: readonly string[], words = false): Promise<ExitCode> {
  if (words) {
    const offered = (await completed(program, given)).map((word) => `${word}\n`)
    process.stdout.write(offered.join(''))
    return 0
  }
  const [shell] = given
  const script = SCRIPTS[shell ?? '']
  if (script === undefined) {
    throw new TrinityError('cli/usage', shell ? `there is no completion for ${shell}` : 'which shell?', {
      path: 'shell',
      hint: `one of ${Object.keys(SCRIPTS).join(', ')}`,
    })
  }
  process.stdout.write(script)
  return 0
}

/** Commands, options or values that the last of the words may become; none: the shell offers files. */
export async function completed(program: Command, words: readonly string[]): Promise<string[]> {
  const whole = rejoined(words)
  const given = whole.slice(0, -1)
  const last = whole.at(-1) ?? ''
  let command = program
  const rest: string[] = []
  for (const word of given) {
    const below = rest.length === 0 ? command.commands.find((one) => one.name() === word) : undefined
    if (below) command = below
    else rest.push(word)
  }
  const offered = await offers(command, rest, last)
  const isSplit = last !== (words.at(-1) ?? '')
  const going = offered.filter((word) => word.startsWith(last)).sort()
  // a shell that breaks words at = wants what follows it
  return isSplit ? going.map((word) => word.slice(word.indexOf('=') + 1)) : going
}

async function offers(command: Command, given: readonly string[], last: string): Promise<readonly string[]> {
  const valued = optionOf(command, given.at(-1))
  if (valued?.required || valued?.optional) return valuesOf(pathOf(command), valued.long ?? undefined, last)
  if (last.startsWith('-')) {
    return command.options
      .filter(({ long, hidden }) => long && !hidden && !given.includes(long))
      .map(({ long }) => String(long))
  }
  if (command.commands.length > 0) return command.commands.map((one) => one.name())
  const isFirst = !given.some((word, i) => !word.startsWith('-') && !isValued(command, given[i - 1]))
  return isFirst ? valuesOf(pathOf(command), undefined, last) : []
}

/** Words of a line as they were typed: bash breaks them at `=`. */
function rejoined(words: readonly string[]): string[] {
  const whole: string[] = []
  words.forEach((word, i) => {
    const isRest = whole.length > 1 && (word === '=' || words[i - 1] === '=')
    if (isRest) whole[whole.length - 1] += word
    else whole.push(word)
  })
  return whole
}

/** `model new` */
function pathOf(command: Command): string {
  return command.parent?.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name()
}

function isValued(command: Command, word: string | undefined): boolean {
  const option = optionOf(command, word)
  return option !== undefined && (option.required || option.optional)
}

function optionOf(command: Command, word: string | undefined): Option | undefined {
  return command.options.find(({ short, long }) => word !== undefined && (word === short || word === long))
}
