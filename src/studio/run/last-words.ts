import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { redact } from '../../base/secret/index.js'
import type { RunRecord } from '../../run/record.js'
import type { RunError } from '../api.js'
import type { FoundRun } from './find.js'
import { inside } from './inside.js'
import { lastLines, withFile } from './lines.js'

/** Level, time, name of the file, message: `ERROR 11-16 00:13:05 [run] the run failed`. */
const LINE = /^[A-Z]+ (\d\d)-(\d\d) (\d\d):(\d\d):(\d\d) \[[^\]]*\] (.*)$/s
/** Lines of a log that its failure may take: the message and where it happened. */
const TAIL = 80
/** A run that goes on after its failure writes more than its own end takes. */
const LATER_S = 10

/** What a line of a log says, without its head; undefined: it has none. */
export function messageIn(line: string): string | undefined {
  return LINE.exec(line)?.[6]
}

/** When a line was written, in seconds since 1970. Lines have no year: it is that of the file, or the one before. */
export function timeOf(line: string, written: Date): number | undefined {
  const match = LINE.exec(line)
  if (!match) return undefined
  const [month, day, hour, minute, second] = match.slice(1, 6).map(Number)
  const at = (year: number) => new Date(year, month - 1, day, hour, minute, second).getTime()
  const same = at(written.getFullYear())
  // a day of grace: clocks of a file server differ
  return (same > written.getTime() + 86_400_000 ? at(written.getFullYear() - 1) : same) / 1000
}

/** Returns the error of a run, or why it is partial: from its record, or from its log if it has no record. */
export async function failureOf(
  { root, path }: FoundRun,
  record: RunRecord | undefined,
  changed: number,
): Promise<RunError | undefined> {
  if (record?.end?.how === 'failed' || record?.end?.how === 'partial') {
    const { at, error } = record.end
    return { code: error?.code, message: redact(error?.message ?? 'no reason is on record'), at: Date.parse(at) / 1000 }
  }
  const log = record ? undefined : await inside(root, join(path, 'log', 'run.log')).catch(() => undefined)
  return log === undefined ? undefined : failureInLog(log, changed)
}

async function failureInLog(path: string, changed: number): Promise<RunError | undefined> {
  const lines = await withFile(path, (file, size) => lastLines(file, size, TAIL))
  if (!lines) return undefined
  const begin = lines.findLastIndex(({ text }) => messageIn(text) === 'the run failed')
  const told = lines.slice(begin)
  if (begin < 0 || !told.every(({ text }) => text.startsWith('ERROR '))) return undefined
  const at = timeOf(told[0].text, (await stat(path)).mtime)
  if (at !== undefined && changed - at > LATER_S) return undefined
  const words = told.slice(1).map(({ text }) => messageIn(text) ?? text)
  const stack = words.findIndex((text) => /^\s+at /.test(text))
  const message = words.slice(0, stack < 0 ? 5 : stack).join('\n')
  return { message: redact(message.replace(/^\w*Error: /, '')) || 'no reason is in the log', at }
}
