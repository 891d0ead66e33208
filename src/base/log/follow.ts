import { readdirSync } from 'node:fs'
import { join, relative } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { LEVELS, type Level } from './log-dir.js'
import { LogFile, type LogLine } from './log-file.js'

export interface FollowOptions {
  readonly dirs: readonly string[]
  /** Only files whose name contains it. */
  readonly keyword?: string
  /** Least important line that is shown. */
  readonly level: Level
  /** How many of the lines that are there are shown first, of each file; null: all. */
  readonly lastLines: number | null
  /** Lines that are there and contain it are shown with what stands around them. */
  readonly pattern?: string
  readonly show: (file: string, line: LogLine) => void
  /** Between pieces that do not follow each other. */
  readonly gap?: () => void
  readonly pollMs?: number
  readonly scanMs?: number
}

const CONTEXT = 5

/** Shows what log files say, first what is there, then what comes, until the signal; without one only what is there. */
export async function followLogs(options: FollowOptions, signal?: AbortSignal): Promise<void> {
  const { pollMs = 500, scanMs = 5000 } = options
  const files = new Map<string, LogFile>()
  const least = LEVELS.indexOf(options.level)
  const isShown = ({ level }: LogLine) => LEVELS.indexOf(level) >= least
  const scan = (isNew: boolean) => {
    for (const { path, name } of logFiles(options.dirs, options.keyword)) {
      if (files.has(path)) continue
      const file = new LogFile(path)
      files.set(path, file)
      if (isNew) continue
      const lines = [...file.read(), ...(signal ? [] : file.end())].filter(isShown)
      existing(lines, options, (line) => options.show(name, line))
    }
  }
  try {
    scan(false)
    let scanned = performance.now()
    while (signal && !signal.aborted) {
      await sleep(pollMs, undefined, { signal }).catch(() => {})
      if (performance.now() - scanned >= scanMs) {
        scan(true)
        scanned = performance.now()
      }
      for (const file of files.values()) {
        const name = nameOf(file.path, options.dirs)
        for (const line of file.read()) if (isShown(line)) options.show(name, line)
      }
    }
  } finally {
    for (const file of files.values()) file.close()
  }
}

function existing(lines: readonly LogLine[], options: FollowOptions, show: (line: LogLine) => void): void {
  const { pattern, lastLines, gap = () => {} } = options
  if (pattern === undefined) {
    for (const line of lastLines === null ? lines : lastLines === 0 ? [] : lines.slice(-lastLines)) show(line)
    return
  }
  let shownTo = 0
  lines.forEach(({ text }, i) => {
    if (!text.includes(pattern)) return
    const from = Math.max(shownTo, i - CONTEXT)
    if (shownTo > 0 && from > shownTo) gap()
    const to = Math.min(lines.length, i + CONTEXT + 1)
    for (const line of lines.slice(from, to)) show(line)
    shownTo = Math.max(shownTo, to)
  })
}

/** `*.log` in the folders and their sub-folders (one for each node), in order of name. */
export function logFiles(dirs: readonly string[], keyword = ''): { path: string; name: string }[] {
  return dirs.flatMap((dir) => {
    const paths = below(dir).filter((path) => path.endsWith('.log'))
    return paths
      .sort()
      .map((path) => ({ path, name: nameOf(path, dirs) }))
      .filter(({ path }) => path.slice(path.lastIndexOf('/') + 1).includes(keyword))
  })
}

function below(dir: string): string[] {
  try {
    return readdirSync(dir, { withFileTypes: true }).flatMap((entry) =>
      entry.isDirectory() ? below(join(dir, entry.name)) : [join(dir, entry.name)],
    )
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

function nameOf(path: string, dirs: readonly string[]): string {
  const dir = dirs.find((one) => path.startsWith(join(one, '/'))) ?? ''
  return relative(dir, path).replace(/\.log$/, '')
}
