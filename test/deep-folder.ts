import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A folder so deep inside a temporary one that a few `..` too many do not leave it. */
export function deepFolder(): { dir: string; remove(): void } {
  const top = mkdtempSync(join(tmpdir(), 'trinity-deep-'))
  const dir = join(top, ...'abcdefghij')
  mkdirSync(dir, { recursive: true })
  return { dir, remove: () => rmSync(top, { recursive: true, force: true }) }
}
