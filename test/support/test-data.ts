import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const folder = process.env.TRINITY_TEST_DATA && resolve(process.env.TRINITY_TEST_DATA)

/**
 * Real models, data sets and documented files that are not part of the repository, in the folder of TRINITY_TEST_DATA.
 * Tests that want them skip when they are absent, and say so by `note`.
 */
export function testData(path: string): { path: string; absent: boolean; note: string } {
  if (!folder) return { path, absent: true, note: ' (skipped: TRINITY_TEST_DATA is not set)' }
  const full = join(folder, path)
  const absent = !existsSync(full)
  return { path: full, absent, note: absent ? ` (skipped: TRINITY_TEST_DATA has no ${path})` : '' }
}

/** Tiny models with what Transformers computes with them, one per family. */
export const tinyModels = [
  'gemma2',
  'gemma3',
  'llama',
  'mistral',
  'olmo2',
  'phi3',
  'qwen2',
  'qwen3',
  'qwen3-moe',
  'smollm3',
].map((family) => `tiny-${family}`)

export function fixture(name: string): string {
  return fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url))
}
