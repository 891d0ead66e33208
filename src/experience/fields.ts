import { TrinityError } from '../base/error.js'
import { checkExperience } from './create.js'
import type { Experience, TensorData } from './experience.js'
import { TOKEN_FLOATS, type TokenFloat, type VersionSpan } from './experience.js'

/**
 * The middle between an experience and both its stored forms: plain JSON fields under the names that files and tables
 * use, and named arrays. The binary form writes the arrays raw, the JSONL form writes them as lists.
 */
export interface Fields {
  plain: Record<string, unknown>
  arrays: NamedArray[]
}
export interface NamedArray {
  name: string
  data: TensorData
  /** Absent: one dimension. */
  shape?: readonly number[]
  /** Absent: follows from `data`. */
  dtype?: string
}

/** JSON fields that go through unchanged: name in TypeScript → name in files. */
const SAME = {
  type: 'type',
  promptLength: 'prompt_length',
  modelVersion: 'model_version',
  useCount: 'use_count',
  versions: 'versions',
  truncateStatus: 'truncate_status',
  failure: 'failure',
  promptText: 'prompt_text',
  responseText: 'response_text',
  messages: 'messages',
  tools: 'tools',
  chosenMessages: 'chosen_messages',
  rejectedMessages: 'rejected_messages',
  info: 'info',
} as const satisfies Partial<Record<keyof Experience, string>>
type Same = keyof typeof SAME

const INTS = { tokens: 'tokens', chosen: 'chosen', rejected: 'rejected' } as const

/** Kinds of the plain fields, checked on reading: a stored form is input like any other. */
const KINDS: Record<string, (value: unknown) => boolean> = {
  type: isText,
  prompt_length: isCount,
  model_version: Number.isInteger,
  use_count: isCount,
  versions: (value) => Array.isArray(value) && value.every(isSpan),
  truncate_status: (value) => value === 'prompt_truncated' || value === 'response_truncated',
  failure: (value) => isObject(value) && isText(value.reason) && isText(value.message),
  prompt_text: isText,
  response_text: isText,
  messages: isList,
  tools: isList,
  chosen_messages: isList,
  rejected_messages: isList,
  info: isObject,
}

const sameEntries = Object.entries(SAME) as [Same, string][]
const floatEntries = Object.entries(TOKEN_FLOATS) as [TokenFloat, string][]
const intEntries = Object.entries(INTS) as [keyof typeof INTS, string][]

export function toFields(experience: Experience, omit?: ReadonlySet<string>): Fields {
  const plain: Record<string, unknown> = {}
  const { eid } = experience
  plain.eid = { batch: eid.batch, task: eid.task, run: eid.run, step: eid.step, suffix: eid.suffix }
  for (const [key, name] of sameEntries) {
    const value = experience[key]
    if (value !== undefined && value !== null && !omit?.has(name)) plain[name] = value
  }
  plain.temperature = numberOut(experience.temperature)
  if (typeof experience.reward === 'number') plain.reward = numberOut(experience.reward)
  plain.metrics = numbersOut(experience.metrics)

  const arrays: NamedArray[] = []
  for (const [key, name] of intEntries) if (experience[key]) arrays.push({ name, data: experience[key] })
  arrays.push({ name: 'action_mask', data: experience.actionMask })
  for (const [key, name] of floatEntries) if (experience[key]) arrays.push({ name, data: experience[key] })
  if (experience.columns) {
    const scalars: Record<string, number> = {}
    for (const [name, column] of Object.entries(experience.columns)) {
      if (typeof column === 'number') scalars[name] = column
      else arrays.push({ name: `columns:${name}`, data: column })
    }
    plain.columns = numbersOut(scalars)
  }
  for (const [name, tensor] of Object.entries(experience.media ?? {})) arrays.push({ name: `media:${name}`, ...tensor })
  if (experience.routedExperts) arrays.push({ name: 'routed_experts', ...experience.routedExperts })
  for (const [name, value] of Object.entries(experience.extra ?? {})) {
    if (isTensor(value)) arrays.push({ name, ...value })
    else if (!Object.hasOwn(plain, name)) plain[name] = value
  }
  return { plain, arrays }
}

/** `where` names the record in errors. */
export function fromFields(fields: Fields, where: string): Experience {
  const plain = new Map(Object.entries(fields.plain))
  const bad = (field: string, what: string): never => {
    throw new TrinityError('experience/corrupt', `${where}: field '${field}' ${what}`, { path: where })
  }
  const take = (name: string): unknown => {
    const value = plain.get(name)
    plain.delete(name)
    return value === null ? undefined : value
  }
  const draft: Partial<Experience> = {}
  for (const [key, name] of sameEntries) {
    const value = take(name)
    if (value === undefined) continue
    if (!KINDS[name](value)) bad(name, `is ${JSON.stringify(value)?.slice(0, 80)}`)
    ;(draft as Record<string, unknown>)[key] = value
  }
  const eid = take('eid')
  if (!isObject(eid) || !isKey(eid.batch) || !isKey(eid.task) || !isCount(eid.run) || !isCount(eid.step)) {
    return bad('eid', 'is not {batch, task, run, step, suffix}')
  }
  draft.eid = { batch: eid.batch, task: eid.task, run: eid.run, step: eid.step, suffix: String(eid.suffix ?? '') }
  draft.temperature = numberIn(take('temperature') ?? 1) ?? bad('temperature', 'is not a number')
  const reward = take('reward')
  if (reward !== undefined) draft.reward = numberIn(reward) ?? bad('reward', 'is not a number')
  draft.metrics = numbersIn(take('metrics') ?? {}) ?? bad('metrics', 'is not a map of numbers')
  const scalars = take('columns')
  if (scalars !== undefined) draft.columns = numbersIn(scalars) ?? bad('columns', 'is not a map of numbers')

  const extra = takeArrays(fields.arrays, draft, bad)
  if (!draft.tokens) bad('tokens', 'is missing')
  if (draft.type === undefined) bad('type', 'is missing')
  if (draft.promptLength === undefined) bad('prompt_length', 'is missing')
  draft.actionMask ??= bad('action_mask', 'is missing')
  draft.info ??= {}
  draft.modelVersion ??= 0
  draft.useCount ??= 0
  for (const [name, value] of plain) extra.push([name, value])
  if (extra.length) draft.extra = Object.fromEntries(extra)
  try {
    return checkExperience(draft as Experience)
  } catch (cause) {
    return bad((cause as TrinityError).path ?? '', (cause as TrinityError).message)
  }
}

/** Puts the known arrays in their places; gives back the unknown ones. */
function takeArrays(arrays: NamedArray[], draft: Partial<Experience>, bad: (f: string, w: string) => never) {
  const extra: [string, unknown][] = []
  const columns: [string, number | Float32Array][] = Object.entries(draft.columns ?? {})
  const media: [string, { shape: readonly number[]; data: TensorData }][] = []
  for (const { name, data, shape, dtype } of arrays) {
    const int = intEntries.find((entry) => entry[1] === name)?.[0]
    const float = floatEntries.find((entry) => entry[1] === name)?.[0]
    const tensor = { shape: shape ?? [data.length], data, ...(dtype ? { dtype } : {}) }
    if (int) draft[int] = data instanceof Int32Array ? data : bad(name, 'is not an int32 array')
    else if (float) draft[float] = data instanceof Float32Array ? data : bad(name, 'is not a float32 array')
    else if (name === 'action_mask') draft.actionMask = isMask(data) ? data : bad(name, 'is not a list of 0 and 1')
    else if (name === 'routed_experts') draft.routedExperts = tensor
    else if (name.startsWith('media:')) media.push([name.slice(6), tensor])
    else if (name.startsWith('columns:')) {
      columns.push([name.slice(8), data instanceof Float32Array ? data : bad(name, 'is not a float32 array')])
    } else extra.push([name, tensor])
  }
  if (columns.length) draft.columns = Object.fromEntries(columns)
  if (media.length) draft.media = Object.fromEntries(media)
  return extra
}

/** JSON has no NaN and no infinity: they are written as text where only a number can stand. */
export function numberOut(value: number): number | string {
  return Number.isFinite(value) && !Object.is(value, -0) ? value : Object.is(value, -0) ? '-0' : String(value)
}

export function numberIn(value: unknown): number | undefined {
  if (typeof value === 'number') return value
  if (value === 'NaN' || value === 'Infinity' || value === '-Infinity' || value === '-0') return Number(value)
  return undefined
}

function numbersOut(values: Record<string, number>): Record<string, number | string> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, numberOut(value)]))
}

function numbersIn(values: unknown): Record<string, number> | undefined {
  if (!isObject(values)) return undefined
  const entries = Object.entries(values).map(([name, value]) => [name, numberIn(value)] as const)
  return entries.every(([, value]) => value !== undefined)
    ? (Object.fromEntries(entries) as Record<string, number>)
    : undefined
}

function isTensor(value: unknown): value is { shape: readonly number[]; data: TensorData; dtype?: string } {
  return isObject(value) && ArrayBuffer.isView(value.data) && Array.isArray(value.shape)
}
function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
function isList(value: unknown): boolean {
  return Array.isArray(value)
}
function isText(value: unknown): value is string {
  return typeof value === 'string'
}
function isKey(value: unknown): value is number | string {
  return typeof value === 'string' || typeof value === 'number'
}
function isCount(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 0
}
function isSpan(value: unknown): value is VersionSpan {
  return isObject(value) && Number.isInteger(value.version) && isCount(value.from)
}
function isMask(data: TensorData): data is Uint8Array {
  if (!(data instanceof Uint8Array)) return false
  for (let i = 0; i < data.length; i++) if (data[i] > 1) return false
  return true
}
