import { TrinityError } from '../base/error.js'
import {
  type Eid,
  EXPERIENCE_TYPES,
  type Experience,
  type ExperienceType,
  makeEid,
  TOKEN_FLOATS,
  type TokenFloat,
  uid,
} from './experience.js'

type Numbers = ArrayLike<number>
type Arrays = TokenFloat | 'tokens' | 'actionMask' | 'chosen' | 'rejected'

/** What a caller gives: arrays may be plain lists, and everything that follows from the rest may be left out. */
export type ExperienceInit = Partial<Omit<Experience, Arrays | 'eid'>> & {
  eid?: Partial<Eid>
  tokens: Numbers
  actionMask?: ArrayLike<number | boolean>
  chosen?: Numbers
  rejected?: Numbers
} & { [field in TokenFloat]?: Numbers }

const floatFields = Object.keys(TOKEN_FLOATS) as TokenFloat[]

/**
 * Makes an experience: fills in what follows from the rest, and checks the result. The type, unless given: two answers make a pair, a mask
 * makes a multi-turn experience, anything else is single-turn.
 * @example
 * import { createExperience } from 'trinity-rft'
 *
 * const experience = createExperience({ tokens: [5, 6, 7, 8], promptLength: 2, reward: 1 })
 * console.log(experience.type, experience.actionMask)
 */
export function createExperience(init: ExperienceInit): Experience {
  const { chosen, rejected, actionMask, ...rest } = init
  const type: ExperienceType = init.type ?? (chosen && rejected ? 'dpo' : actionMask ? 'multi_turn' : 'single_turn')
  const tokens = ints(init.tokens)
  const promptLength = type === 'dpo' ? tokens.length : (init.promptLength ?? 1)
  const experience: Experience = {
    type,
    eid: makeEid(init.eid),
    tokens,
    promptLength,
    actionMask: actionMask ? bytes(actionMask) : defaultMask(init, Math.max(0, tokens.length - promptLength)),
    temperature: init.temperature ?? 1,
    modelVersion: init.modelVersion ?? oldest(init) ?? 0,
    useCount: init.useCount ?? 0,
    info: init.info ?? {},
    metrics: init.metrics ?? {},
  }
  if (chosen) experience.chosen = ints(chosen)
  if (rejected) experience.rejected = ints(rejected)
  for (const field of floatFields) {
    const given = init[field]
    if (given !== undefined) experience[field] = given instanceof Float32Array ? given : Float32Array.from(given)
  }
  // A field given as undefined is a field that is not there.
  const all = experience as unknown as Record<string, unknown>
  for (const [key, value] of Object.entries(rest)) if (value !== undefined && !(key in all)) all[key] = value
  return checkExperience(experience)
}

/** Throws `experience/invalid` that names the experience and the field. */
export function checkExperience(experience: Experience): Experience {
  const { type, tokens, promptLength, actionMask } = experience
  const fail = (field: string, message: string, hint?: string): never => {
    throw new TrinityError('experience/invalid', `experience ${uid(experience.eid)}: ${message}`, { path: field, hint })
  }
  if (!EXPERIENCE_TYPES.includes(type)) fail('type', `type is '${type}'`, `one of ${EXPERIENCE_TYPES.join(', ')}`)
  if (!Number.isInteger(promptLength) || promptLength < 0) fail('promptLength', `promptLength is ${promptLength}`)
  if (promptLength > tokens.length) {
    fail('promptLength', `promptLength is ${promptLength}, but there are only ${tokens.length} tokens`)
  }
  const length = tokens.length - promptLength
  if (type === 'dpo') {
    if (!experience.chosen?.length) fail('chosen', 'a pair needs the tokens of the chosen answer')
    if (!experience.rejected?.length) fail('rejected', 'a pair needs the tokens of the rejected answer')
  } else if (!experience.failure) {
    // A failed run or a cut prompt has nothing to learn from, and is kept so that its group stays complete.
    const cut = experience.truncateStatus === 'prompt_truncated'
    if (promptLength === 0) fail('promptLength', 'promptLength is 0: the first token of a sequence has no log-prob')
    if (length === 0 && !cut) fail('tokens', 'the response is empty', 'set `failure` when the run gave no response')
  }
  if (actionMask.length !== length) fail('actionMask', lengths('actionMask', actionMask.length, length))
  for (const field of floatFields) {
    const array = experience[field]
    if (array !== undefined && array.length !== length) fail(field, lengths(field, array.length, length))
  }
  for (const [name, column] of Object.entries(experience.columns ?? {})) {
    if (typeof column !== 'number' && column.length !== length) {
      fail(`columns.${name}`, lengths(`columns.${name}`, column.length, length))
    }
  }
  if (!(experience.temperature >= 0)) fail('temperature', `temperature is ${experience.temperature}`)
  if (!Number.isInteger(experience.modelVersion)) fail('modelVersion', `modelVersion is ${experience.modelVersion}`)
  return experience
}

function lengths(field: string, has: number, wants: number): string {
  return `${field} has ${has} entries, the response has ${wants} tokens`
}

function defaultMask(init: ExperienceInit, length: number): Uint8Array {
  const trained = init.truncateStatus !== 'prompt_truncated' && init.failure === undefined
  return new Uint8Array(length).fill(trained ? 1 : 0)
}

function oldest(init: ExperienceInit): number | undefined {
  return init.versions?.length ? Math.min(...init.versions.map((span) => span.version)) : undefined
}

function ints(values: Numbers): Int32Array {
  return values instanceof Int32Array ? values : Int32Array.from(values)
}

function bytes(values: ArrayLike<number | boolean>): Uint8Array {
  return Uint8Array.from({ length: values.length }, (_, i) => (values[i] ? 1 : 0))
}
