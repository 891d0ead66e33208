import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import pc from 'picocolors'
import { TrinityError } from '../base/error.js'
import { followLogs } from '../base/log/follow.js'
import { LEVELS, type Level, levelOf } from '../base/log/log-dir.js'
import type { LogLine } from '../base/log/log-file.js'
import { redact } from '../base/secret/index.js'
import { usePlugins } from '../plugin/use.js'
import { jobDirs } from './job-dirs.js'
import type { ExitCode } from './print.js'

export interface LogCommandOptions {
  logDir?: string
  config?: string
  pluginDir?: string[]
  set?: string[]
  keyword?: string
  level?: string
  lastNLines?: string
  searchPattern?: string
  /** `--no-color` makes it false. */
  color?: boolean
  /** `--no-follow` makes it false. */
  follow?: boolean
}

/** Shows the log files of a run and goes on with what is written to them, until Ctrl-C. */
export async function log(options: LogCommandOptions): Promise<ExitCode> {
  const follow = options.follow !== false
  const last = lineCount(options.lastNLines)
  await usePlugins(options.pluginDir)
  const dirs = dirsOf(options)
  const end = new AbortController()
  const stop = () => end.abort()
  process.once('SIGINT', stop)
  // a reader that has seen enough (`| head`)
  process.stdout.once('error', stop)
  try {
    await followLogs(
      {
        dirs,
        keyword: options.keyword,
        level: wantedLevel(options.level),
        lastLines: last ?? (follow ? 0 : null),
        pattern: options.searchPattern,
        show: printer(options.color !== false),
        gap: () => process.stdout.write('--\n'),
      },
      follow ? end.signal : undefined,
    )
  } finally {
    process.off('SIGINT', stop)
  }
  return 0
}

function dirsOf({ logDir, config, set }: LogCommandOptions): string[] {
  if ((logDir === undefined) === (config === undefined)) {
    throw new TrinityError('cli/usage', 'give either --log-dir or --config', { path: 'trinity log' })
  }
  if (logDir !== undefined) {
    const dir = resolve(logDir)
    if (existsSync(dir)) return [dir]
    throw new TrinityError('cli/no-logs', `there is no folder ${dir}`, { path: dir })
  }
  const dirs = jobDirs(config as string, set).map((job) => join(job, 'log'))
  const there = dirs.filter((dir) => existsSync(dir))
  // stages that come later have no folder yet
  if (there.length > 0) return dirs
  throw new TrinityError('cli/no-logs', `there is no folder ${dirs[0]}`, {
    path: config,
    hint: 'a run creates it when it starts; check the configuration and the current folder',
  })
}

function wantedLevel(text = 'INFO'): Level {
  const level = levelOf(text)
  if (level !== 'INFO' || text.toUpperCase() === 'INFO') return level
  throw new TrinityError('cli/usage', `unknown level '${text}'`, {
    path: '--level',
    hint: `known: ${LEVELS.join(', ')}`,
  })
}

function lineCount(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (/^\d+$/.test(text)) return Number(text)
  throw new TrinityError('cli/usage', `'${text}' is not a number of lines`, { path: '--last-n-lines' })
}

/** Each file has a color of its own; warnings and errors stand out. */
function printer(wantsColor: boolean): (file: string, line: LogLine) => void {
  const colors = pc.createColors(wantsColor && pc.isColorSupported)
  const palette = [colors.cyan, colors.green, colors.magenta, colors.blue]
  const styles = new Map<string, (text: string) => string>()
  const ofLevel: Partial<Record<Level, (text: string) => string>> = {
    DEBUG: colors.dim,
    WARNING: colors.yellow,
    ERROR: colors.red,
  }
  return (file, { text, level }) => {
    const style = styles.get(file) ?? palette[styles.size % palette.length]
    styles.set(file, style)
    const bare = redact(text)
    const shown = ofLevel[level]?.(bare) ?? bare
    process.stdout.write(`${style(file)} ${shown}\n`)
  }
}
