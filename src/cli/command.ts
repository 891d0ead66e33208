import { Command, type Option } from 'commander'

/**
 * A command that names the word that was misspelled. Commander looks for required options before unknown ones, so that
 * `--confg x` would be told as a missing `--config`; and it answers a request for the help of an unknown command with all
 * of the help. It has no setting for either: these are methods that it calls, checked by the tests beside this file.
 */
export class TrinityCommand extends Command {
  override createCommand(name?: string): TrinityCommand {
    return new TrinityCommand(name)
  }

  missingMandatoryOptionValue(option: Option): void {
    const stray = this.args.find((word) => /^-./.test(word))
    if (stray !== undefined) this.#commander.unknownOption(stray)
    this.error(`error: required option '${option.flags}' not specified`, {
      code: 'commander.missingMandatoryOptionValue',
    })
  }

  /** `help`, `help run`, `help perf run`. */
  _dispatchHelpCommand(): void {
    let at: Command = this
    for (const word of this.args.slice(1)) {
      // `help data countdown`: the rest are arguments
      if (at.commands.length === 0) break
      const next = at.commands.find((command) => command.name() === word || command.aliases().includes(word))
      if (!next) {
        at.args = [word]
        ;(at as TrinityCommand).#commander.unknownCommand()
        return
      }
      at = next
    }
    at.help()
  }

  /** What its types leave out. */
  get #commander() {
    return this as unknown as { unknownOption(flag: string): void; unknownCommand(): void }
  }
}
