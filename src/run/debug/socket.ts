import { createHash } from 'node:crypto'
import { tmpdir, userInfo } from 'node:os'
import { join, resolve } from 'node:path'

/** Where the models of a configuration are served: a socket of this user on this machine, found by the file's name. */
export function debugSocket(configFile: string): string {
  const id = createHash('sha256')
    .update(`${userInfo().username}\n${resolve(configFile)}`)
    .digest('hex')
    .slice(0, 16)
  return process.platform === 'win32' ? `\\\\.\\pipe\\trinity-debug-${id}` : join(tmpdir(), `trinity-debug-${id}.sock`)
}
