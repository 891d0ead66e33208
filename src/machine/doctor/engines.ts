import type { Check, EngineVerdict } from './check.js'

/** What the doctor wants to know of an engine. */
export interface ExaminedEngine {
  readonly name: string
  /** What the checks mean for it; absent: it needs nothing of the machine. */
  verdict?(checks: readonly Check[]): Omit<EngineVerdict, 'engine'>
}

/** Which engines have on this machine everything they need. */
export function verdicts(checks: readonly Check[], engines: readonly ExaminedEngine[]): EngineVerdict[] {
  return engines.flatMap(({ name, verdict }) => (verdict ? [{ engine: name, ...verdict(checks) }] : []))
}
