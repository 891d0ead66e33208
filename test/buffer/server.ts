/** A PostgreSQL server that lives as long as a test. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres from 'postgres'

/** Folder with initdb and postgres, or undefined. */
export function findPostgres(): string | undefined {
  const debian = '/usr/lib/postgresql'
  const versions = existsSync(debian) ? readdirSync(debian).map((version) => join(debian, version, 'bin')) : []
  const folders = [...versions, ...(process.env.PATH ?? '').split(':')]
  return folders.find((folder) => existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'postgres')))
}

export interface Server {
  url: string
  stop(): Promise<void>
}

export async function startPostgres(binaries: string): Promise<Server> {
  const folder = mkdtempSync(join(tmpdir(), 'trinity-postgres-'))
  // The server refuses to run as root.
  const user = process.getuid?.() === 0 ? (findUser('postgres') ?? findUser('nobody')) : undefined
  if (user) chownSync(folder, user.uid, user.gid)
  const options = { ...user, stdio: 'ignore' as const, cwd: folder }
  const data = join(folder, 'data')
  execFileSync(join(binaries, 'initdb'), ['-D', data, '-U', 'trinity', '--auth=trust', '--no-sync'], options)
  const port = await freePort()
  const server = spawn(join(binaries, 'postgres'), ['-D', data, '-p', String(port), '-k', folder, '-F'], options)
  const url = `postgresql://trinity@127.0.0.1:${port}/postgres`
  const stop = async () => {
    server.kill('SIGINT')
    if (server.exitCode === null) await new Promise((resolve) => server.once('exit', resolve))
    rmSync(folder, { recursive: true, force: true })
  }
  await answers(url, server)
  return { url, stop }
}

async function answers(url: string, server: ChildProcess): Promise<void> {
  for (let attempt = 0; attempt < 200; attempt++) {
    const sql = postgres(url, { max: 1, onnotice: () => {} })
    const up = await sql`SELECT 1`.then(
      () => true,
      () => false,
    )
    await sql.end({ timeout: 1 })
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
