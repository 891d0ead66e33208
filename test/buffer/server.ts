/** A PostgreSQL server that lives as long as a test, or a benchmark. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'

/** Folder with initdb and postgres, or undefined. */
export function findPostgres(): string | undefined {
  const debian = '/usr/lib/postgresql'
  const versions = existsSync(debian) ? readdirSync(debian).map((version) => join(debian, version, 'bin')) : []
  const folders = [...versions, ...(process.env.PATH ?? '').split(':')]
  return folders.find((folder) => existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'postgres')))
}

export interface Server {
  url: string
  /** Process of the server; those that work for its clients are its children. */
  pid(): number
  /** Ends it as a crash would, and starts it again on the same data. */
  restart(): Promise<void>
  /** All its processes stop where they are, or go on. */
  freeze(frozen: boolean): void
  stop(): Promise<void>
}

/** `flags`: of the server; by default it does not wait for the disk. */
export async function startPostgres(binaries: string, flags: readonly string[] = ['-F']): Promise<Server> {
  const folder = mkdtempSync(join(tmpdir(), 'trinity-postgres-'))
  // The server refuses to run as root.
  const user = process.getuid?.() === 0 ? (findUser('postgres') ?? findUser('nobody')) : undefined
  if (user) chownSync(folder, user.uid, user.gid)
  const options = { ...user, stdio: 'ignore' as const, cwd: folder }
  const data = join(folder, 'data')
  execFileSync(join(binaries, 'initdb'), ['-D', data, '-U', 'trinity', '--auth=trust', '--no-sync'], options)
  const port = await freePort()
  const url = `postgresql://trinity@127.0.0.1:${port}/postgres`
  const start = async () => {
    const args = ['-D', data, '-p', String(port), '-k', folder, ...flags]
    const started = spawn(join(binaries, 'postgres'), args, { ...options, detached: true })
    await answers(url, started)
    return started
  }
  const ended = (how: 'SIGINT' | 'SIGQUIT') =>
    new Promise<void>((resolve) => {
      if (server.exitCode !== null) return resolve()
      server.once('exit', () => resolve())
      server.kill(how)
    })
  let server = await start()
  return {
    url,
    pid: () => server.pid!,
    async restart() {
      await ended('SIGQUIT')
      server = await start()
    },
    freeze(frozen) {
      // its helpers are process groups of their own
      const helpers = execFileSync('pgrep', ['-P', String(server.pid)], { encoding: 'utf8' })
      for (const pid of [server.pid!, ...helpers.trim().split('\n').map(Number)]) {
        try {
          process.kill(pid, frozen ? 'SIGSTOP' : 'SIGCONT')
        } catch (error) {
          // some helpers come and go
          if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
        }
      }
    },
    async stop() {
      await ended('SIGINT')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function answers(url: string, server: ChildProcess): Promise<void> {
  for (let attempt = 0; attempt < 200; attempt++) {
    const client = new pg.Client(url)
    client.on('error', () => {})
    const up = await client.connect().then(
      () => true,
      () => false,
    )
    await client.end()
    if (up) return
    if (server.exitCode !== null) break
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error('the PostgreSQL server of the test does not answer')
}

function findUser(name: string): { uid: number; gid: number } | undefined {
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((entry) => entry.startsWith(`${name}:`))
  const [, , uid, gid] = line?.split(':') ?? []
  return line ? { uid: Number(uid), gid: Number(gid) } : undefined
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as { port: number }
      probe.close(() => resolve(port))
    })
  })
}
