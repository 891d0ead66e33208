import { basename, dirname } from 'node:path'
import { HIDDEN, isHarmless, isSecretName, redactValue } from '../base/secret/index.js'

/** Options that the commands of one run share. */
export interface SharedFlags {
  config: string
  pluginDir?: string[]
  set?: string[]
  /** Where its log is, of a run that has no file. */
  logDir?: string
  /** What was typed, of a run that has no file: with `--print` it makes one. */
  command?: string
}

let current: SharedFlags | undefined

/** What this process was asked to do: commands that are suggested from now on are about the same run. */
export function rememberFlags(flags: SharedFlags): void {
  current = flags
}

const COMMANDS =
  'run|init|sweep|bench-rft|plot|find-context-length|train|log|status|debug|doctor|setup|config|model|data|play|chat|serve|convert|import-verl|upgrade-config|studio|view|perf|completion'
const SUGGESTED = new RegExp(`(?<![\\w./-])(npx )?trinity (${COMMANDS})\\b(?=([^\`\\n]*))`, 'g')

/**
 * A text with its commands as they can be typed here: with `npx` where the package is installed in a project, and with the
 * file, the plugins and the overrides of the run where a command is about it.
 */
export function typed(text: string, script: string | undefined = process.argv[1]): string {
  return text.replace(SUGGESTED, (_, _npx, command: string, rest: string) => {
    const isBare = /^(log|debug)$/.test(command) && !/(^|\s)(-c|--config|-d|--log-dir)\b/.test(rest)
    const program = programOf(script)
    if (!isBare || !current) return `${program} ${command}`
    if (current.logDir === undefined) return `${program} ${command} ${optionsOf(current)}`
    return command === 'log' ? `${program} log -d ${quoted([current.logDir])}` : debugWithoutFile(program, current)
  })
}

/** `trinity debug` wants a file. */
function debugWithoutFile(program: string, { command, pluginDir, set }: SharedFlags): string {
  const file = 'run.yaml'
  const debug = `${program} debug ${optionsOf({ config: command ? file : 'FILE', pluginDir, set })}`
  return command ? `${command.replace(/^trinity/, program)} --print > ${file} && ${debug}` : debug
}

/** How this program is called: by its name where it is installed for all, otherwise through npx. */
function programOf(script = ''): string {
  const isGlobal = basename(script) === 'trinity' && basename(dirname(script)) !== '.bin'
  return isGlobal ? 'trinity' : 'npx trinity'
}

/** As a shell reads them. Whoever copies them puts the secrets in again. */
export function optionsOf({ config, pluginDir = [], set = [] }: SharedFlags): string {
  const words = ['-c', config]
  for (const dir of pluginDir) words.push('--plugin-dir', dir)
  for (const one of set) words.push('--set', shownOverride(one))
  return quoted(words)
}

/** Overrides with another value of one key, which stands there once. */
export function withSetting(set: readonly string[] | undefined, key: string, value: number): string[] {
  return [...(set ?? []).filter((one) => one.split('=', 1)[0].trim() !== key), `${key}=${value}`]
}

/** Words as a shell reads them. */
export function quoted(words: readonly string[]): string {
  return words.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(' ')
}

/** An override as it may be shown: without the secret in it. */
export function shownOverride(text: string): string {
  const equals = text.indexOf('=')
  const [key, value] = [text.slice(0, equals), text.slice(equals + 1)]
  const secret = key.split(/[.[\]]+/).some((part) => isSecretName(part) || part === 'env_vars')
  return `${key}=${secret && !isHarmless(value) ? HIDDEN : redactValue(value)}`
}
