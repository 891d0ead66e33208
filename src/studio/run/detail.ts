import { existsSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { isJsonObject, readJsonObject } from '../../base/file/json-file.js'
import { readBestEval } from '../../checkpoint/best-eval.js'
import type { BestEval } from '../../checkpoint/checkpoint.js'
import { MANIFEST, stepName, stepsOnDisk, WRITTEN, weightsPath } from '../../checkpoint/layout.js'
import { readRecords } from '../../run/record.js'
import type { CheckpointInfo, Note, RunDetail, RunSummary } from '../api.js'
import { logFiles } from '../log/files.js'
import { logPage } from '../log/page.js'
import type { FoundRun } from './find.js'
import { messageIn, timeOf } from './last-words.js'
import { rolesWithNumbers } from './pulse.js'
import { briefly } from './summary.js'

const MOST_NOTES = 200
/** Of the end of each log: notes that are older are in the logs. */
const NOTE_BYTES = 1 << 22

export async function detailOf(run: FoundRun, summary: RunSummary): Promise<RunDetail> {
  const { path } = run
  const [best, records, logs, roles] = await Promise.all([
    readBestEval(path).catch(() => undefined),
    readRecords(path),
    logFiles(run),
    rolesWithNumbers(run),
  ])
  return {
    ...summary,
    file: records[0]?.file,
    evaluations: (best?.history ?? []).map((one) => ({ ...briefly(one), metrics: one.metrics })),
    checkpoints: await checkpointsOf(path, best),
    notes: await notesOf(run),
    has: {
      config: records.length > 0,
      metrics: roles.length > 0,
      logs: logs.length > 0,
      rollouts: existsSync(join(path, 'buffer')),
    },
  }
}

async function checkpointsOf(dir: string, best: BestEval | undefined): Promise<CheckpointInfo[]> {
  const steps = await stepsOnDisk(dir)
  const found = await Promise.all(
    steps.map(async (step): Promise<CheckpointInfo[]> => {
      const path = join(dir, stepName(step))
      const full = existsSync(join(path, MANIFEST))
      const list = join(path, full ? MANIFEST : WRITTEN)
      const info = await stat(list).catch(() => undefined)
      const weights = weightsPath(path)
      const evaluation = best?.history.find((one) => one.step === step)
      return [
        {
          ...{ step, path, full, isNewest: step === steps[0], isBest: best?.best.step === step },
          bytes: await bytesOf(list),
          savedAt: info && info.mtimeMs / 1000,
          weights: existsSync(weights) ? weights : undefined,
          evaluation: evaluation && briefly(evaluation),
        },
      ]
    }),
  )
  return found.flat().reverse()
}

/** A checkpoint lists its files with their sizes. */
async function bytesOf(list: string): Promise<number | undefined> {
  const files = (await readJsonObject(list).catch(() => undefined))?.files
  if (!isJsonObject(files)) return undefined
  const sizes = Object.values(files).map((file) => (isJsonObject(file) ? Number(file.size) : Number.NaN))
  const sum = sizes.reduce((one, other) => one + other, 0)
  return Number.isFinite(sum) ? sum : undefined
}

async function notesOf(run: FoundRun): Promise<Note[]> {
  const logs = await logFiles(run)
  const all = await Promise.all(
    logs.map(async ({ path, file, changed }) => {
      const written = new Date(changed * 1000)
      const { lines } = await logPage(path, file, { limit: MOST_NOTES, level: 'WARNING', most: NOTE_BYTES })
      return lines.map(({ level, text }) => ({
        at: timeOf(text, written),
        level,
        from: file,
        text: messageIn(text) ?? text,
      }))
    }),
  )
  return all
    .flat()
    .sort((a, b) => (a.at ?? 0) - (b.at ?? 0))
    .slice(-MOST_NOTES)
}
