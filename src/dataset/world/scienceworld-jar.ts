import { createReadStream } from 'node:fs'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { TrinityError } from '../../base/error.js'
import { ZipFile } from '../../base/file/zip.js'
import { releaseOf } from '../../environment/scienceworld/index.js'
import { execLocal } from '../../machine/python/exec.js'
import { pythonSources } from '../../machine/python/find.js'

const PACKAGE = 'scienceworld==1.2.3'
const IN_WHEEL = 'scienceworld/scienceworld.jar'
const DOWNLOAD_MS = 600_000

/** The simulator in a file that the user has: the jar, or the package that it comes in. */
export async function* jarIn(path: string): AsyncIterable<Buffer> {
  const zip = await ZipFile.open(path)
  try {
    if (zip.has(IN_WHEEL)) {
      yield await zip.read(IN_WHEEL)
      return
    }
  } finally {
    await zip.close()
  }
  await releaseOf(path)
  yield* createReadStream(path) as AsyncIterable<Buffer>
}

/** The simulator out of the package, which the user's pip downloads. */
export async function* jarFromPip(exec = execLocal): AsyncIterable<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), 'trinity-scienceworld-'))
  try {
    await download(folder, exec)
    const [wheel] = (await readdir(folder)).filter((name) => name.endsWith('.whl'))
    yield* jarIn(join(folder, wheel))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function download(folder: string, exec: typeof execLocal): Promise<void> {
  const failures: string[] = []
  for (const { command } of pythonSources({ env: process.env, home: homedir() })) {
    const args = ['-m', 'pip', 'download', '--no-deps', '--only-binary', ':all:', '--dest', folder, PACKAGE]
    const { status, stderr } = await exec(command, args, { timeoutMs: DOWNLOAD_MS })
    if (status === 'ok') return
    if (status !== 'missing') failures.push(`${command}: ${lastLine(stderr)}`)
  }
  const why = failures.length === 0 ? 'there is no Python' : failures.join('; ')
  throw new TrinityError('dataset/download', `the simulator cannot be downloaded: ${why}`, {
    hint: `where there is access: python -m pip download --no-deps ${PACKAGE}; then here: trinity data scienceworld --jar FILE.whl`,
  })
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1) ?? ''
}
