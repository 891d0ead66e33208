import { readdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readJsonObject } from '../base/file/json-file.js'
import type { RoleStatus } from './status.js'

/** Where the processes of a job leave their statuses for each other. */
export interface StatusStore {
  write(status: RoleStatus): Promise<void>
  /** Everybody who has ever had a part in the job. */
  read(): Promise<RoleStatus[]>
}

const FILE = /^\.status-(.+)\.json$/

/** `.status-<name>.json` in the job directory. */
export function statusFolder(dir: string): StatusStore {
  return {
    async write(status) {
      const path = join(dir, `.status-${encodeURIComponent(status.name)}.json`)
      // Not forced to the disk: it is written every second, and says nothing any more when the machine has gone down.
      await writeFile(`${path}.tmp`, `${JSON.stringify(status, null, 2)}\n`)
      await rename(`${path}.tmp`, path)
    },
    async read() {
      const names = (await readdir(dir)).filter((name) => FILE.test(name))
      const all = await Promise.all(names.map((name) => readJsonObject(join(dir, name)).catch(() => undefined)))
      // a machine that lost power may leave anything, because statuses are not synced
      return all.filter(
        (one) => typeof one?.name === 'string' && typeof one.boot === 'string',
      ) as unknown as RoleStatus[]
    },
  }
}
