import type { Command, Option } from 'commander'
import { TrinityError } from '../base/error.js'
import type { ExitCode } from './print.js'

/** What each shell asks with; where there is nothing to offer, it goes on with the names of files. */
const SCRIPTS: Readonly<Record<string, string>> = {
  bash: `_trinity() {
  local IFS=$'\\n'
  COMPREPLY=($(trinity completion --words -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _trinity trinity
`,
  zsh: `#compdef trinity
_trinity() {
  local -a found
  found=(\${(f)"$(trinity completion --words -- "\${(@)words[2,CURRENT]}" 2>/dev/null)"})
  if (( \${#found} )); then compadd -- $found; else _files; fi
}
compdef _trinity trinity
`,
  fish: `complete -c trinity -a '(trinity completion --words -- (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)'
`,
}

/** `trinity completion`: a script for a shell, or, for that script, what the words of a line can go on with. */
export function completion(program: Command, given: readonly string[], words = false): ExitCode {
  if (words) {
    const offered = completed(program, given).map((word) => `${word}\n`)
    process.stdout.write(offered.join(''))
    return 0
  }
  const [shell] = given
  const script = SCRIPTS[shell ?? '']
  if (script === undefined) {
    throw new TrinityError('cli/usage', shell ? `there is no completion for ${shell}` : 'for which shell?', {
      path: 'shell',
      hint: `one of ${Object.keys(SCRIPTS).join(', ')}`,
    })
  }
  process.stdout.write(script)
  return 0
}

/** Commands or options that the last of the words may become. */
export function completed(program: Command, words: readonly string[]): string[] {
  let command = program
  const given = words.slice(0, -1)
  const last = words.at(-1) ?? ''
  for (const word of given) command = command.commands.find((one) => one.name() === word) ?? command
  const valued = optionOf(command, given.at(-1))
  if (valued && (valued.required || valued.optional)) return []
  const offered = last.startsWith('-')
    ? command.options.filter(({ long }) => long && !given.includes(long)).map(({ long }) => String(long))
    : command.commands.map((one) => one.name())
  return offered.filter((word) => word.startsWith(last)).sort()
}

function optionOf(command: Command, word: string | undefined): Option | undefined {
  return command.options.find(({ short, long }) => word !== undefined && (word === short || word === long))
}
