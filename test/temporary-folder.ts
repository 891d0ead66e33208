import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The tests of a run, and whatever they start, share a temporary folder, which goes with them. The name is short: sockets lie there. */
export default function setup(): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'tests-'))
  // a database of the tests runs as another user
  chmodSync(folder, 0o1777)
  process.env.TMPDIR = folder
  return () => rmSync(folder, { recursive: true, force: true })
}
