import { messageOf, TrinityError } from '../error.js'

interface Meaning {
  readonly what: (place: string) => string
  readonly hint: string
}

const ELSEWHERE = 'or give another place (checkpoint_root_dir)'
const FULL = `free some space there, ${ELSEWHERE}; the same command resumes from the last checkpoint`
const OPEN_FILES = 'raise the number of open files (ulimit -n), or lower explorer.runner_per_model'

/** What the codes of the operating system mean for somebody who runs this. */
const MEANINGS: Readonly<Record<string, Meaning>> = {
  ENOSPC: { what: (place) => `the disk is full: cannot write ${place}`, hint: FULL },
  SQLITE_FULL: { what: (place) => `the disk is full: cannot write ${place}`, hint: FULL },
  EDQUOT: { what: (place) => `the disk quota is used up: cannot write ${place}`, hint: FULL },
  EACCES: { what: (place) => `no permission for ${place}`, hint: `change the permissions of the folder, ${ELSEWHERE}` },
  EPERM: { what: (place) => `no permission for ${place}`, hint: `change the permissions of the folder, ${ELSEWHERE}` },
  EROFS: { what: (place) => `the file system of ${place} is read-only`, hint: `mount it for writing, ${ELSEWHERE}` },
  ENOTDIR: { what: (place) => `a part of ${place} is a file, not a folder`, hint: `move the file away, ${ELSEWHERE}` },
  EEXIST: { what: (place) => `${place} is a file, not a folder`, hint: `move the file away, ${ELSEWHERE}` },
  ENOENT: {
    what: (place) => `cannot create the folder ${place}`,
    hint: 'give a place where folders can be created (checkpoint_root_dir)',
  },
  EISDIR: {
    what: (place) => `${place} is a folder, but must be a file`,
    hint: `move the folder away, ${ELSEWHERE}`,
  },
  EIO: {
    what: (place) => `the disk reports an error: cannot write ${place}`,
    hint: `check the disk and the log of the system (dmesg), ${ELSEWHERE}`,
  },
  EMFILE: { what: (place) => `too many open files: cannot open ${place}`, hint: OPEN_FILES },
  ENFILE: { what: (place) => `too many open files: cannot open ${place}`, hint: OPEN_FILES },
}

const NOT_READABLE: Meaning = {
  what: (place) => `no permission to read ${place}`,
  hint: 'make it readable (chmod +r), and the folders above it',
}

/** The same where a file is only read: it is the file that has to change, or its name, and no place to write to. */
const READING: Readonly<Record<string, Meaning>> = {
  EACCES: NOT_READABLE,
  EPERM: NOT_READABLE,
  ENOTDIR: { what: (place) => `a part of ${place} is a file, not a folder`, hint: 'check the path' },
  EISDIR: { what: (place) => `${place} is a folder, but must be a file`, hint: 'give the path of a file' },
  EIO: {
    what: (place) => `the disk reports an error: cannot read ${place}`,
    hint: 'check the disk and the log of the system (dmesg)',
  },
  EMFILE: MEANINGS.EMFILE,
  ENFILE: MEANINGS.ENFILE,
}

/** Said of failures whose file nobody knows. */
const SOME_FILE = 'a file'

/**
 * An error of the operating system in words, with the file and a fix; any other error as it is. `path` is for calls that
 * do not tell their file: a write to an open one.
 */
export function systemError(error: unknown, path?: string, code?: string): unknown {
  const { code: errno = '', path: own, dest, syscall } = (error ?? {}) as NodeJS.ErrnoException & { dest?: string }
  if (error instanceof TrinityError || !Object.hasOwn(MEANINGS, errno)) return error
  // Other calls use these codes for races and for files that may be missing.
  if ((errno === 'EEXIST' || errno === 'ENOENT') && syscall !== 'mkdir') return error
  const { what, hint } = MEANINGS[errno]
  // what is copied or renamed is written there
  const file = dest ?? own ?? path
  return new TrinityError(code ?? `file/${errno.toLowerCase()}`, `${what(file ?? SOME_FILE)} (${shortOf(error)})`, {
    path: file,
    hint,
    cause: error,
  })
}

/** Why a file or folder cannot be read, in words and with a fix. */
export function unreadable(path: string, cause: unknown, code = 'file/unreadable'): TrinityError {
  const { code: errno = '' } = (cause ?? {}) as NodeJS.ErrnoException
  if (!Object.hasOwn(READING, errno)) {
    return new TrinityError(code, `cannot read ${path}: ${messageOf(cause)}`, { path, cause })
  }
  const { what, hint } = READING[errno]
  return new TrinityError(code, `${what(path)} (${shortOf(cause)})`, { path, hint, cause })
}

/** Reads something; what the system says against that is told in words. */
export async function reading<T>(work: Promise<T>, path: string, code?: string): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw isOfSystem(error) ? unreadable(path, error, code) : error
  }
}

function isOfSystem(error: unknown): boolean {
  return error instanceof Error && typeof (error as NodeJS.ErrnoException).syscall === 'string'
}

/** `ENOSPC: no space left on device, write`, without the path that is named already. */
function shortOf(error: unknown): string {
  return messageOf(error).replace(/ '.*$/s, '')
}

/** Does something with files; what the system says against it is told in words. */
export async function inWords<T>(work: Promise<T>, path?: string, code?: string): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw systemError(error, path, code)
  }
}
