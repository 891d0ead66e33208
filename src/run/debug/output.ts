import { readdir, rm } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { TrinityError } from '../../base/error.js'
import { makeFolder } from '../../base/file/make-folder.js'
import { openBuffer } from '../../buffer/index.js'
import { type Experience, responseLength, uid } from '../../experience/index.js'
import type { RolloutResult } from '../../explorer/job.js'
import { evidenceOf, isDatabase } from '../evidence.js'
import { isThere } from '../outside.js'

export const RESULT_TABLE = 'debug_buffer'
/** In the folder of the output. */
export const DEBUG_FILE = 'experiences.db'

export interface OutputOptions {
  readonly outputDir: string
  /** Wins over the directory. */
  readonly outputFile?: string
  readonly disableOverwrite?: boolean
}

/** The database to write to: what was there before is replaced, or kept and a directory with the time in its name taken. */
export async function outputFile(options: OutputOptions, now = new Date()): Promise<string> {
  let file = options.outputFile ? resolve(options.outputFile) : join(resolve(options.outputDir), DEBUG_FILE)
  if (options.disableOverwrite && !options.outputFile) {
    const entries = await readdir(dirname(file)).catch(() => [])
    const stamp = now.toISOString().replace(/\D/g, '').slice(0, 14)
    if (entries.length > 0) file = join(`${resolve(options.outputDir)}_${stamp}`, DEBUG_FILE)
  }
  await refuseOther(file)
  await makeFolder(dirname(file))
  for (const end of ['', '-wal', '-shm']) await rm(file + end, { force: true })
  return file
}

/** Only a database of experiences is replaced. */
async function refuseOther(file: string): Promise<void> {
  if (!(await isThere(file))) return
  const evidence = await evidenceOf(file, [], true)
  if (evidence.ours && (await isDatabase(file))) return
  const why = evidence.ours ? 'it is not a database of experiences' : evidence.why
  throw new TrinityError('cli/debug', `${file} already exists and was kept: ${why}`, {
    path: file,
    hint: 'name another file with --output-file',
  })
}

export async function writeExperiences(file: string, experiences: readonly Experience[]): Promise<void> {
  const buffer = await openBuffer({ name: RESULT_TABLE, storage_type: 'sql', path: `sqlite:///${file}` })
  try {
    await buffer.put(experiences)
  } finally {
    await buffer.close()
  }
}

/** A run as a person reads it. */
export function describeRun({ experiences, metrics, failure }: RolloutResult): string[] {
  const lines: string[] = []
  for (const experience of failure ? [] : experiences) {
    const trained = experience.actionMask.reduce((sum, one) => sum + one, 0)
    const facts = [
      `reward ${experience.reward ?? 'none'}`,
      `${experience.promptLength} prompt tokens`,
      `${responseLength(experience)} response tokens, ${trained} of them the model's`,
      ...(experience.truncateStatus ? [experience.truncateStatus] : []),
    ]
    lines.push(`experience ${uid(experience.eid)}: ${facts.join(', ')}`)
    lines.push(...indented('prompt', experience.promptText), ...indented('response', experience.responseText), '')
  }
  if (failure) lines.push(`failed: ${failure.reason}: ${failure.message}`, '')
  if (Object.keys(metrics).length > 0) lines.push('metrics')
  for (const [name, value] of Object.entries(metrics)) lines.push(`  ${name} ${Number(value.toPrecision(6))}`)
  return lines
}

function indented(label: string, text = ''): string[] {
  return [`  ${label}`, ...text.split('\n').map((line) => `    ${line}`)]
}
