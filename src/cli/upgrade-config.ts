import { resolve } from 'node:path'
import pc from 'picocolors'
import { atomicFile } from '../base/file/atomic-file.js'
import { hunks, lineDiff } from '../base/line-diff.js'
import { visible } from '../base/terminal/visible.js'
import { contentOf } from '../config/load.js'
import { ConfigError } from '../config/problem.js'
import { type Upgrade, upgradeText } from '../config/upgrade/upgrade.js'
import type { ExitCode } from './print.js'
import { problemLines, remarkLines } from './problem.js'

export interface UpgradeOptions {
  write?: boolean
}

/** `trinity upgrade-config`: older keys of configurations under their present names. Shows the difference; writes when asked. */
export async function upgradeConfig(files: readonly string[], { write }: UpgradeOptions): Promise<ExitCode> {
  const say = (line: string) => process.stdout.write(`${line}\n`)
  let [older, bad] = [0, 0]
  for (const file of files) {
    const text = contentOf(resolve(file), file)
    const upgrade = upgraded(text, file, say)
    if (upgrade === undefined) bad++
    else if (upgrade.text === text) say(`${pc.green('ok')}   ${file}`)
    else {
      older++
      say(`${pc.yellow(write ? 'new' : 'old')}  ${file}`)
      for (const line of [...difference(text, upgrade.text), ...remarkLines(upgrade.changes)]) say(line)
      if (write) await atomicFile(resolve(file), async (handle) => void (await handle.writeFile(upgrade.text)))
    }
  }
  if (older > 0 && !write) say(pc.dim('nothing was changed; add --write to change the files'))
  return bad > 0 ? 2 : 0
}

/** Undefined: it cannot be read, and why was said. */
function upgraded(text: string, file: string, say: (line: string) => void): Upgrade | undefined {
  try {
    return upgradeText(text, file)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    const errors = error.problems.filter(({ severity }) => severity === 'error')
    for (const line of [`${pc.red('bad')}  ${file}`, ...problemLines(errors)]) say(line)
    return undefined
  }
}

function difference(before: string, after: string): string[] {
  return hunks(lineDiff(before.split('\n'), after.split('\n'))).map((line) => {
    if (line === undefined) return pc.dim('     …')
    const text = visible(line.text)
    if (line.kind === 'same') return pc.dim(`       ${text}`)
    return line.kind === 'gone' ? pc.red(`     - ${text}`) : pc.green(`     + ${text}`)
  })
}
