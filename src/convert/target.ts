import { rename, rm, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { TrinityError } from '../base/error.js'
import { makeFolder } from '../base/file/make-folder.js'
import { inWords } from '../base/file/system-error.js'

/**
 * Sees that nothing is lost where a conversion will be: what is there already stays, unless it may be overwritten. The folder
 * around it is made.
 */
export async function checkTarget(from: string, out: string, { overwrite = false }): Promise<void> {
  if (resolve(from) === resolve(out)) {
    throw new TrinityError('convert/target', `${out} cannot take its own place`, {
      path: out,
      hint: 'name another --out',
    })
  }
  const there = await stat(out).catch(() => undefined)
  if (there && !overwrite) {
    throw new TrinityError('convert/target', `${out} is there already`, {
      path: out,
      hint: 'name another --out, or say --overwrite',
    })
  }
  await inWords(makeFolder(dirname(resolve(out))))
}

/** Puts a whole directory in the place of another, if there is one. */
export async function takePlace(fresh: string, out: string, mark: string): Promise<void> {
  const old = `${out}.${mark}.old`
  const was = await rename(out, old).then(
    () => true,
    () => false,
  )
  await inWords(rename(fresh, out))
  if (was) await rm(old, { recursive: true, force: true })
}
