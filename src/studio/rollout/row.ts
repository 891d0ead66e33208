import { isJsonObject } from '../../base/file/json-file.js'
import { redact } from '../../base/secret/index.js'
import type { RolloutRow } from '../api.js'
import { numberWord } from '../metrics/series.js'
import { BRIEF } from './source.js'

/** What a row of any source says. */
export interface RowFacts {
  readonly key: number
  readonly batch: unknown
  readonly task: unknown
  readonly run: unknown
  readonly type: unknown
  readonly version: unknown
  readonly reward?: number
  readonly created?: unknown
  readonly consumed?: unknown
  readonly failure?: unknown
  readonly truncated?: unknown
  readonly responseLength?: number
  /** `info` of the experience. */
  readonly info?: unknown
  readonly prompt?: unknown
  readonly response?: unknown
}

export function rowOf(facts: RowFacts): RolloutRow {
  return {
    id: String(facts.key),
    task: String(facts.task),
    step: String(facts.batch),
    run: Number(facts.run),
    type: String(facts.type),
    version: Number(facts.version),
    reward: facts.reward === undefined ? undefined : numberWord(facts.reward),
    createdAt: text(facts.created),
    consumed: facts.consumed === undefined ? undefined : Number(facts.consumed),
    failure: text(facts.failure),
    truncated: text(facts.truncated),
    responseLength: facts.responseLength,
    source: sourceOf(facts.info),
    prompt: brief(facts.prompt),
    response: brief(facts.response),
  }
}

/** Which row of which task set it was an attempt at; the explorer writes it into every experience. */
function sourceOf(info: unknown): RolloutRow['source'] {
  const at = isJsonObject(info) ? info.task_index : undefined
  if (!isJsonObject(at)) return undefined
  const { taskset_id: taskset, index } = at
  return typeof taskset === 'number' && typeof index === 'number' ? { taskset, index } : undefined
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? redact(value) : undefined
}

function brief(value: unknown): string | undefined {
  const whole = text(value)
  return whole !== undefined && whole.length > BRIEF ? `${whole.slice(0, BRIEF)}…` : whole
}
