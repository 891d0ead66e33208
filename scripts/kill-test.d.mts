export interface KillResult {
  readonly kills: number
  readonly differences: string[]
  readonly out: string
}
export interface Found {
  readonly files: Map<string, Buffer>
  readonly metrics: Record<string, unknown>
}
export function makeBench(dir: string, options: { cli: string; steps?: number }): Promise<void>
export function runCase(
  cli: string,
  dir: string,
  name: string,
  out: string,
  options?: { slowMs?: number },
): { done: Promise<{ code: number | null; signal: string | null; output: string }> }
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
