import { constants } from 'node:fs'
import { access, statfs } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { bytes } from '../../base/bytes.js'
import type { Check } from './check.js'
import type { Host } from './host.js'

export interface Place {
  readonly id: string
  readonly name: string
  readonly path: string
  /** Less free space than this is worth a word. */
  readonly wanted: number
}

export function places(host: Host): Place[] {
  const { env, cwd, home } = host
  const root = env.TRINITY_CHECKPOINT_ROOT_DIR?.trim()
  const cache = resolve(cwd, env.XDG_CACHE_HOME || join(home, '.cache'))
  const hub = env.HF_HUB_CACHE || env.HUGGINGFACE_HUB_CACHE || join(env.HF_HOME || join(cache, 'huggingface'), 'hub')
  return [
    { id: 'disk.cwd', name: 'current folder', path: cwd, wanted: 1e9 },
    ...(root ? [{ id: 'disk.checkpoints', name: 'checkpoints', path: resolve(cwd, root), wanted: 10e9 }] : []),
    { id: 'disk.hub', name: 'model cache', path: resolve(cwd, expandHome(hub, home)), wanted: 5e9 },
  ]
}

function expandHome(path: string, home: string): string {
  return path === '~' || path.startsWith('~/') ? join(home, path.slice(1)) : path
}

export async function checkDisk(host: Host): Promise<Check[]> {
  return Promise.all(places(host).map(checkPlace))
}

export interface Space {
  /** The nearest folder that exists: the place itself is made when it is first written to. */
  readonly folder: string
  readonly freeBytes: number
  readonly writable: boolean
}

/** A network file system that hangs must not hang the report. */
const TIMEOUT_MS = 3000

async function checkPlace(place: Place): Promise<Check> {
  const timer = new AbortController()
  const late = new Promise<undefined>((done) => {
    const handle = setTimeout(done, TIMEOUT_MS, undefined)
    timer.signal.addEventListener('abort', () => clearTimeout(handle))
  })
  const space = await Promise.race([measure(place.path).catch(() => undefined), late])
  timer.abort()
  return describeSpace(place, space)
}

async function measure(path: string): Promise<Space> {
  let folder = path
  for (;;) {
    try {
      const { bavail, bsize } = await statfs(folder)
      const writable = await access(folder, constants.W_OK).then(
        () => true,
        () => false,
      )
      return { folder, freeBytes: bavail * bsize, writable }
    } catch (error) {
      if (dirname(folder) === folder) throw error
      folder = dirname(folder)
    }
  }
}

export function describeSpace(place: Place, space: Space | undefined): Check {
  const base = { id: place.id, section: 'disk', name: place.name, required: false } as const
  if (!space) {
    return {
      ...base,
      status: 'wrong',
      found: `${place.path} does not respond`,
      fix: 'check the mount of that file system',
      data: { path: place.path, freeBytes: null, writable: null },
    }
  }
  const found = `${bytes(space.freeBytes)} free in ${place.path}`
  const data = { path: place.path, freeBytes: space.freeBytes, writable: space.writable }
  if (!space.writable) {
    return {
      ...base,
      status: 'wrong',
      found: `${space.folder} is not writable`,
      fix: 'choose another folder, or change its permissions',
      data,
    }
  }
  if (space.freeBytes >= place.wanted) return { ...base, status: 'ok', found, data }
  return {
    ...base,
    status: 'warning',
    found,
    fix: `free some space: less than ${bytes(place.wanted)} will not last`,
    data,
  }
}
