import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { TrinityError } from '../../../base/error.js'
import { ZipFile } from '../../../base/file/zip.js'

/** Where `trinity data scienceworld` puts it. */
export const PLACED_JAR = 'data/scienceworld/scienceworld.jar'
const VARIABLE = 'SCIENCEWORLD_JAR'
const HINT = `trinity data scienceworld fetches it; or name it with 'jar_path' or ${VARIABLE}`

/** The releases whose simulator is called as it is called here. */
const RELEASE = /^1\.2\./
const MAIN = 'scienceworld/runtime/pythonapi/PythonInterface.class'

export interface JarPlaces {
  /** By the argument: it must be there. */
  readonly given?: string | null
  /** By the row: it may be of another machine. */
  readonly row?: string
}

/** The simulator's file: by the argument, by the row, by a variable, or where `trinity data` puts it. */
export function findJar({ given, row }: JarPlaces, env: NodeJS.ProcessEnv = process.env): string {
  const named = given ?? undefined
  const places = named === undefined ? [row, env[VARIABLE], PLACED_JAR] : [named]
  const tried = places.filter((place) => place !== undefined && place.trim() !== '').map((place) => resolve(`${place}`))
  const found = tried.find((path) => existsSync(path))
  if (found !== undefined) return found
  throw new TrinityError('environment/jar', `the simulator of ScienceWorld is not there: ${tried.join(', ')}`, {
    path: tried[0],
    hint: HINT,
  })
}

const checked = new Map<string, Promise<string>>()

/** The same path, once it is known to be a simulator that can be used here. */
export async function checkedJar(path: string): Promise<string> {
  const checking = checked.get(path) ?? releaseOf(path)
  checked.set(path, checking)
  // Another file may be there the next time.
  checking.catch(() => checked.delete(path))
  await checking
  return path
}

/** The release of a simulator; any other file is refused. */
export async function releaseOf(path: string): Promise<string> {
  const jar = await ZipFile.open(path)
  try {
    if (!jar.has(MAIN)) throw unsuitable(path, `${path} is not the simulator of ScienceWorld`)
    const manifest = (await jar.read('META-INF/MANIFEST.MF')).toString()
    const version = /^Specification-Version:\s*(\S+)/m.exec(manifest)?.[1] ?? 'unknown'
    if (RELEASE.test(version)) return version
    throw unsuitable(path, `${path} is ScienceWorld ${version}, which is called in another way than 1.2`)
  } finally {
    await jar.close()
  }
}

function unsuitable(path: string, message: string): TrinityError {
  return new TrinityError('environment/jar', message, { path, hint: HINT })
}
