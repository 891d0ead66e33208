import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { TrinityError } from '../base/error.js'
import { writeJsonFile } from '../base/file/atomic-file.js'
import { isJsonObject, type JsonObject, readJsonObject } from '../base/file/json-file.js'
import { isMean, plainMeanName, SCORE_NAMES } from '../base/score-names.js'
import type { BestEval, EvalRecord } from './checkpoint.js'
import { BEST_EVAL } from './layout.js'
import { peekSummary, readSummary, type Warn } from './summary.js'

/** Reads `best_eval.json`; undefined before the first evaluation. */
export async function readBestEval(dir: string): Promise<BestEval | undefined> {
  const path = join(dir, BEST_EVAL)
  const found = await readJsonObject(path)
  if (found === undefined || isBestEval(found)) return found
  throw new TrinityError('checkpoint/best-eval', `${path} is not a list of evaluations`, {
    path,
    hint: 'move the file away: evaluations that are made from now on begin a new one',
  })
}

/** Reads `best_eval.json` without an error if it is damaged. */
export function peekBestEval(dir: string, warn: Warn): Promise<BestEval | undefined> {
  return peekSummary(join(dir, BEST_EVAL), warn, isBestEval)
}

function isBestEval(value: JsonObject): value is JsonObject & BestEval {
  const { first, best, last, history } = value
  return Array.isArray(history) && history.length > 0 && [first, best, last, ...history].every(isRecord)
}

function isRecord(value: unknown): boolean {
  if (!isJsonObject(value)) return false
  const { step, metric, score } = value
  return typeof step === 'number' && typeof metric === 'string' && typeof score === 'number'
}

/**
 * Records an evaluation of the weights of `step`. The file changes at once and in one piece, so the best one so far is on
 * disk whenever the process dies. A damaged file is set aside with a warning.
 */
export async function recordEval(
  dir: string,
  step: number,
  metrics: Readonly<Record<string, number>>,
  metric?: string,
  warn?: Warn,
): Promise<BestEval> {
  const record = rate(step, metrics, metric)
  const known = (await readSummary(join(dir, BEST_EVAL), warn, isBestEval))?.history ?? []
  // A resumed run makes its evaluations again: the same step replaces what was known of it.
  return write(dir, [...known.filter((one) => one.step < step), record, ...known.filter((one) => one.step > step)])
}

/** Forgets evaluations of weights that a resumed run makes again. A damaged file is set aside with a warning. */
export async function rewindEvals(dir: string, step: number, warn?: Warn): Promise<void> {
  const known = await readSummary(join(dir, BEST_EVAL), warn, isBestEval)
  if (!known) return
  const history = known.history.filter((one) => one.step <= step)
  if (history.length === 0) await rm(join(dir, BEST_EVAL), { force: true })
  else if (history.length < known.history.length) await write(dir, history)
}

async function write(dir: string, history: readonly EvalRecord[]): Promise<BestEval> {
  const best = history.reduce((one, other) => (beats(one, other) ? one : other))
  const value: BestEval = { first: history[0], best, last: history[history.length - 1], history }
  await writeJsonFile(join(dir, BEST_EVAL), value)
  return value
}

/** The earlier of two equal ones is kept. Scores of different metrics do not compare: the new one counts. */
function beats(known: EvalRecord, record: EvalRecord): boolean {
  return plainMeanName(known.metric) === plainMeanName(record.metric) && known.score >= record.score
}

function rate(step: number, metrics: Readonly<Record<string, number>>, metric?: string): EvalRecord {
  if (metric !== undefined) {
    const score = metrics[metric]
    if (Number.isFinite(score)) return { step, metric, score, metrics }
    throw new TrinityError('checkpoint/no-metric', `the evaluation has no number '${metric}'`, {
      path: metric,
      hint: `it has ${Object.keys(metrics).join(', ') || 'nothing'}`,
    })
  }
  for (const name of SCORE_NAMES) {
    const keys = Object.keys(metrics).filter((key) => isMean(key, name) && Number.isFinite(metrics[key]))
    if (keys.length === 0) continue
    const score = keys.reduce((sum, key) => sum + metrics[key], 0) / keys.length
    return { step, metric: keys.length === 1 ? keys[0] : `mean of ${keys.join(', ')}`, score, metrics }
  }
  throw new TrinityError('checkpoint/no-metric', 'the evaluation has no accuracy, score or reward', {
    hint: `name the number to compare; known: ${Object.keys(metrics).join(', ') || 'none'}`,
  })
}
