import { TrinityError } from '../base/error.js'
import { deriveSeed } from '../base/random/derive-seed.js'
import { Pcg64 } from '../base/random/index.js'
import type { Row } from '../engine/contract.js'
import { type Experience, tid, uid } from '../experience/index.js'
import type { BuiltLoss } from './loss.js'
import { TOP_COLUMNS } from './top-columns.js'

type Column = Float32Array | number

export interface RowContext {
  /** Training step, for losses with a schedule. */
  readonly step: number
  /** Columns that the trainer will add itself, such as `ref` or `old`. */
  readonly later?: readonly string[]
  /** The rows are only counted: what an experience does not have is left out. */
  readonly counted?: true
}

/** Where a column of a loss comes from. Anything else is looked up in the experience's own `columns`. */
const SOURCES: Record<string, (experience: Experience, context: RowContext) => Column | undefined> = {
  advantage: (experience) => experience.advantages,
  return: (experience) => experience.returns,
  old: (experience) => experience.oldLogprobs ?? experience.logprobs,
  ref: (experience) => experience.refLogprobs,
  teacher: (experience) => experience.teacherLogprobs,
  old_value: (experience) => experience.values,
  expert: (experience) => (experience.info.is_expert ? 1 : 0),
  off_policy: (experience) => (experience.info.is_off_policy ? 1 : 0),
  step: (_, context) => context.step,
  noise: ({ eid, actionMask }, { step }) => {
    // without the suffix of the name, which is another in every run
    const random = new Pcg64(deriveSeed('noise', step, tid(eid), eid.run, eid.step))
    return Float32Array.from(actionMask, () => random.random())
  },
  ...TOP_COLUMNS,
}

/** 1 for the better answer of a pair. */
const CHOSEN = 'chosen'

/** Columns that a run has by itself. Others come from a workflow or an operator. */
export const OWN_COLUMNS: readonly string[] = [...Object.keys(SOURCES), CHOSEN]

/** Training rows of an engine, with the inputs that the loss reads. A pair becomes two rows of one bundle. */
export function toRows(experiences: readonly Experience[], columns: BuiltLoss['columns'], context: RowContext): Row[] {
  return experiences.flatMap((experience) => {
    if (experience.type === 'dpo') return pairRows(experience, columns, context)
    const { tokens, promptLength, actionMask, temperature } = experience
    const own = {
      id: uid(experience.eid),
      group: tid(experience.eid),
      tokens,
      start: promptLength,
      mask: actionMask,
      temperature: temperature || 1,
    }
    return [{ ...own, columns: collect(experience, columns, context) }]
  })
}

function pairRows(experience: Experience, columns: BuiltLoss['columns'], context: RowContext): Row[] {
  const bundle = uid(experience.eid)
  const { tokens: prompt } = experience
  const shared = collect(
    experience,
    columns.filter(({ name }) => name !== CHOSEN),
    context,
  )
  return [experience.chosen!, experience.rejected!].map((answer, i) => {
    const tokens = new Int32Array(prompt.length + answer.length)
    tokens.set(prompt)
    tokens.set(answer, prompt.length)
    const mask = new Uint8Array(answer.length).fill(1)
    const id = `${bundle}/${i === 0 ? 'chosen' : 'rejected'}`
    return {
      id,
      bundle,
      group: tid(experience.eid),
      tokens,
      start: prompt.length,
      mask,
      temperature: 1,
      columns: { ...shared, [CHOSEN]: 1 - i },
    }
  })
}

function collect(experience: Experience, columns: BuiltLoss['columns'], context: RowContext): Record<string, Column> {
  const collected: Record<string, Column> = {}
  for (const { name } of columns) {
    if (context.later?.includes(name)) continue
    const value = Object.hasOwn(SOURCES, name) ? SOURCES[name](experience, context) : experience.columns?.[name]
    if (value === undefined) {
      if (context.counted) continue
      throw new TrinityError('algorithm/missing-input', `experience ${uid(experience.eid)} has no '${name}'`, {
        path: name,
        hint:
          HINTS[name] ??
          (name in TOP_COLUMNS ? TOP_HINT : undefined) ??
          `the loss reads it: set experience.columns.${name} in the workflow or in an operator`,
      })
    }
    collected[name] = value
  }
  return collected
}

const TOP_HINT = 'record enough likeliest tokens at rollout: set model.logprobs; an answer of several turns has none'

const HINTS: Record<string, string> = {
  advantage: 'no advantage function has seen it: check algorithm.advantage_fn',
  old: 'record log-probs at rollout, or set algorithm.bypass_old_logprobs: false',
  ref: 'the algorithm needs a reference model, or kl_loss_fn: none',
}
