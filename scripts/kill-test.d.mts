import type { ChildProcess } from 'node:child_process'

export interface KillResult {
  readonly kills: number
  readonly differences: string[]
  readonly out: string
}
export interface Found {
  readonly files: Map<string, Buffer>
  readonly metrics: Record<string, unknown>
}
export interface CaseEnd {
  code: number | null
  signal: string | null
  output: string
}
export interface StartedSide {
  child: ChildProcess
  done: Promise<CaseEnd>
}
export const CASES: Readonly<Record<string, string>>
export function makeBench(dir: string, options: { cli: string; steps?: number }): Promise<void>
export function runCase(
  cli: string,
  dir: string,
  name: string,
  out: string,
  options?: { slowMs?: number },
): { sides: StartedSide[]; done: Promise<CaseEnd> }
export function sidesOf(name: string): readonly (readonly string[])[]
export function startSide(
  cli: string,
  dir: string,
  name: string,
  out: string,
  side: readonly string[],
  env?: Record<string, string>,
): StartedSide
export function prepareCase(cli: string, dir: string, name: string, out: string): Promise<void>
export function resultOf(out: string): Found
export function differences(expected: Found, found: Found): string[]
export interface KillOptions {
  cli: string
  dir: string
  name: string
  expected: Found
  seconds: number
  random: () => number
  most?: number
  log?: (text: string) => void
}
export function killUntilDone(options: KillOptions): Promise<KillResult>
export function killOnce(options: KillOptions): Promise<KillResult>
export function seeded(seed: number): () => number
