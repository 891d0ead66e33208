import { toRows } from '../algorithm/index.js'
import type { Call, Row, RowScores, ScoreModel, Want } from '../engine/contract.js'
import { type Experience, uid } from '../experience/index.js'
import type { Budget } from './micro-batch.js'
import { isEmpty } from './usable.js'

export type ScoresById = ReadonlyMap<string, RowScores>

/** Scores of every row that has something to score, by the row's id. No gradient. */
export async function scoreAll(
  model: ScoreModel,
  experiences: readonly Experience[],
  want: Want,
  budget: Budget,
  call: Call,
): Promise<ScoresById> {
  const filled = experiences.filter((experience) => !isEmpty(experience))
  const rows = toRows(filled, [], { step: 0 })
  if (rows.length === 0) return new Map()
  const scores = await model.forward({ rows, tokenBudget: budget(rows) }, want, call)
  return new Map(scores.map((score) => [score.id, score]))
}

/** Log-probs by row: those of pairs have no place in an experience, which holds one sequence. */
export class PairColumns {
  readonly #columns = new Map<string, Record<string, Float32Array>>()
  readonly #names = new Set<string>()

  add(name: string, scores: ScoresById): void {
    this.#names.add(name)
    for (const [id, { logprob }] of scores) {
      if (logprob) this.#columns.set(id, { ...this.#columns.get(id), [name]: logprob })
    }
  }

  get names(): string[] {
    return [...this.#names]
  }

  fill(row: Row): Row {
    const own = this.#columns.get(row.id)
    return own ? { ...row, columns: { ...row.columns, ...own } } : row
  }
}

/** Copies of the experiences with one kind of score; zeros where nothing was scored. Pairs stay as they are. */
export function withScores(
  experiences: readonly Experience[],
  scores: ScoresById,
  kind: 'logprob' | 'value',
  field: 'oldLogprobs' | 'refLogprobs' | 'values',
): Experience[] {
  return experiences.map((experience) => {
    if (experience.type === 'dpo') return experience
    const own = scores.get(uid(experience.eid))?.[kind]
    return { ...experience, [field]: own ?? new Float32Array(experience.actionMask.length) }
  })
}

export function withEntropy(experiences: readonly Experience[], scores: ScoresById): Experience[] {
  return experiences.map((experience) => {
    const entropy = scores.get(uid(experience.eid))?.entropy ?? new Float32Array(experience.actionMask.length)
    return { ...experience, columns: { ...experience.columns, entropy } }
  })
}
