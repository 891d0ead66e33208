import type { ModelInfo, RowScores, Sample, SampleRequest } from '../../engine/contract.js'

/** A model as the server describes it. */
export interface ServedModel {
  readonly name: string
  readonly role: 'rollout' | 'auxiliary'
  readonly kind: 'sample' | 'reward'
  readonly info: ModelInfo
  readonly version: number
}

export interface Served {
  readonly pid: number
  /** What the configuration says of the models; another text means that the server runs other models. */
  readonly fingerprint: string
  readonly models: readonly ServedModel[]
}

/** JSON has no typed arrays and no infinity. */
const TYPED = { i: Int32Array, f: Float32Array, u: Uint8Array } as const

export function toWire(value: unknown): string {
  return JSON.stringify(value, (_, one) => {
    if (one instanceof Int32Array) return { $i: [...one] }
    if (one instanceof Uint8Array) return { $u: [...one] }
    if (one instanceof Float32Array) return { $f: Array.from(one, (x) => (Number.isFinite(x) ? x : String(x))) }
    return one
  })
}

export function fromWire<T>(text: string): T {
  return JSON.parse(text, (_, one) => {
    if (typeof one !== 'object' || one === null) return one
    for (const [key, Typed] of Object.entries(TYPED)) {
      const list = one[`$${key}`]
      if (Array.isArray(list)) return Typed.from(list.map(Number))
    }
    return one
  }) as T
}

export interface SampleCall {
  readonly model: number
  readonly request: SampleRequest
  readonly deadlineMs: number
}
export type SampleAnswer = readonly Sample[]
export type ScoreAnswer = readonly RowScores[]
