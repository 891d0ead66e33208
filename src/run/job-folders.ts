import { type FileHandle, open, readlink, stat } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { TrinityError } from '../base/error.js'
import type { Config } from '../config/index.js'
import { localFile } from './outside.js'

const LOOK_MS = 2000
/** Time between two looks while a place does not exist: one that is moved right after it was made must be known by then. */
const SOON_MS = 100
/** Time between two looks at a folder that seems to be gone: network file systems may be away for a moment. */
const AGAIN_MS = 500

/** Folders that a run writes to, and files that it keeps open. */
export interface JobPlaces {
  readonly folders: readonly string[]
  readonly files: readonly string[]
}

export function jobPlaces({ checkpoint_job_dir, log, buffer, monitor, explorer, mode }: Config): JobPlaces {
  const own = [checkpoint_job_dir, log.save_dir, buffer.cache_dir, monitor.cache_dir]
  const main = buffer.trainer_input.experience_buffer
  const paths = [main?.storage_type === 'file' ? undefined : main?.path, mode === 'serve' ? explorer.db_url : undefined]
  return {
    folders: own.flatMap((path) => path || []),
    files: paths.flatMap((path) => (path ? (localFile(path) ?? []) : [])),
  }
}

/**
 * Watches the folders of a running job. A process keeps writing to open files after their folder was moved or deleted, and
 * would end as if all were well. A place is watched from the moment when it exists.
 */
export class JobFolders {
  readonly #places: JobPlaces
  readonly #known = new Map<string, { readonly handle?: FileHandle; readonly link?: string }>()
  #timer: NodeJS.Timeout | undefined
  #looking: Promise<string | undefined> = Promise.resolve(undefined)
  #isClosed = false

  /** `onGone` is called at most once. */
  constructor(places: JobPlaces, onGone: (error: TrinityError) => void) {
    this.#places = places
    const look = async () => {
      const gone = await this.#look()
      if (this.#isClosed) return
      if (gone !== undefined) return onGone(folderGone(gone))
      const isWhole = this.#known.size === places.folders.length + places.files.length
      this.#timer = setTimeout(look, isWhole ? LOOK_MS : SOON_MS)
      this.#timer.unref()
    }
    void look()
  }

  /** Throws if a place is gone that existed before. */
  async check(): Promise<void> {
    const gone = await this.#look()
    if (gone !== undefined) throw folderGone(gone)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    await this.#looking
    for (const { handle } of this.#known.values()) await handle?.close()
    this.#known.clear()
  }

  /** Returns the first place that is gone. Looks come one after the other. */
  #look(): Promise<string | undefined> {
    this.#looking = this.#looking.then(async () => {
      if (this.#isClosed) return undefined
      const { folders, files } = this.#places
      for (const path of [...folders, ...files]) {
        if (!this.#known.has(path)) await this.#meet(path, folders.includes(path))
        else if (await this.#isGone(path)) {
          await sleep(AGAIN_MS)
          if (await this.#isGone(path)) return path
        }
      }
      return undefined
    })
    return this.#looking
  }

  /** Files are not opened: closing one would release the locks that SQLite has on it. */
  async #meet(path: string, isFolder: boolean): Promise<void> {
    if (!(await stat(path).catch(() => undefined))) return
    // some systems cannot open folders
    const handle = isFolder ? await open(path, 'r').catch(() => undefined) : undefined
    this.#known.set(path, { handle, link: handle && (await linkOf(handle)) })
  }

  async #isGone(path: string): Promise<boolean> {
    const { handle, link } = this.#known.get(path) ?? {}
    try {
      const now = await stat(path)
      if (!handle) return false
      const was = await handle.stat()
      if (now.ino === was.ino && now.dev === was.dev) return false
      // Some network file systems change the numbers of their files; the system itself knows whether the folder has moved.
      return link === undefined || (await linkOf(handle)) !== link
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === 'ENOENT'
    }
  }
}

/** Returns the path of an open folder as the system follows it; undefined where the system does not say. */
function linkOf({ fd }: FileHandle): Promise<string | undefined> {
  return readlink(`/proc/self/fd/${fd}`).catch(() => undefined)
}

function folderGone(path: string): TrinityError {
  return new TrinityError('run/folder-gone', `moved or deleted while the run used it: ${path}`, {
    path,
    hint: 'move it back to its place, then run the same command: the run resumes from its last checkpoint',
  })
}
