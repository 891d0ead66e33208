import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/** Where a project goes that was given no folder: here, where nothing but hidden files is, else into a new folder. */
export function defaultFolder(here: string): string {
  return readdirSync(here).every((name) => name.startsWith('.')) ? '.' : freeFolder(here)
}

/** A name that nothing here has. */
export function freeFolder(here: string): string {
  for (let n = 1; ; n++) {
    const name = n === 1 ? 'my-agent' : `my-agent-${n}`
    if (!existsSync(join(here, name))) return name
  }
}
