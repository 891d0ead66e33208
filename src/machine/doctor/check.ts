/** ok: usable. warning: usable, but look at it. missing: not there. wrong: there, and of no use as it is. */
export type Status = 'ok' | 'warning' | 'missing' | 'wrong'

export const SECTIONS = ['runtime', 'cpu', 'python', 'cuda', 'ray', 'disk', 'environment'] as const
export type Section = (typeof SECTIONS)[number]

export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json }

/** One line of the report. */
export interface Check {
  /** Stable: scripts that read `--json` look checks up by it. */
  readonly id: string
  readonly section: Section
  readonly name: string
  readonly status: Status
  /** The embedded engine cannot run without it. */
  readonly required: boolean
  /** What was found, for people. */
  readonly found: string
  /** What to do about it, as an instruction. */
  readonly fix?: string
  /** What was found, for programs. */
  readonly data?: { readonly [key: string]: Json }
}

/** Whether an engine has on this machine what it needs. */
export interface EngineVerdict {
  readonly engine: string
  readonly ready: boolean
  readonly why: string
  readonly fix?: string
}

export interface Report {
  /** Of this form; a change that breaks readers raises it. */
  readonly format: 1
  readonly trinity: string
  readonly platform: string
  /** The embedded engine can run. */
  readonly ok: boolean
  readonly checks: readonly Check[]
  readonly engines: readonly EngineVerdict[]
}

/** A required check that is missing or wrong. */
export function blocks(check: Check): boolean {
  return check.required && (check.status === 'missing' || check.status === 'wrong')
}
