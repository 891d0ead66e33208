import type { Check, EngineVerdict } from './check.js'

/** What the doctor wants to know of an engine. */
export interface ExaminedEngine {
  readonly name: string
  /** What the checks mean for it; absent: it needs nothing of the machine. */
  verdict?(checks: readonly Check[]): Omit<EngineVerdict, 'engine'>
}

/** The engines of this version, and those that files may name and that are not part of it. */
export interface KnownEngines {
  readonly here: readonly ExaminedEngine[]
  readonly elsewhere: readonly { readonly name: string }[]
}

/** Which engines have on this machine everything they need. */
export function verdicts(checks: readonly Check[], { here, elsewhere }: KnownEngines): EngineVerdict[] {
  return [
    ...here.flatMap(({ name, verdict }) => (verdict ? [{ engine: name, ...verdict(checks) }] : [])),
    ...elsewhere.map(({ name }) => ({ engine: name, ready: false, why: 'not part of this version' })),
  ]
}
