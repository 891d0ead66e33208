// How much `trinity --help` costs on top of Node itself.
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { interleave, printTable, ratioRows, runOnce } from './lib.mjs'

export const title = 'Start of the command line'
export const about = 'trinity --help against node -e 0; target: at most 2 times'
export const quick = true

const root = fileURLToPath(new URL('..', import.meta.url))
const main = join(root, 'dist', 'cli', 'main.js')

export async function run() {
  if (!existsSync(main)) throw new Error('dist/ is not built: npm run build')
  const folder = mkdtempSync(join(tmpdir(), 'trinity-bench-'))
  try {
    const empty = join(folder, 'empty.mjs')
    writeFileSync(empty, '')
    const node = (...args) => runOnce(process.execPath, args)
    const results = await interleave(
      {
        'node -e 0': () => node('-e', '0'),
        'empty ES module': () => node(empty),
        'trinity --help': () => node(main, '--help'),
        'trinity --version': () => node(main, '--version'),
      },
      { rounds: 21 },
    )
    printTable(ratioRows(results, 'node -e 0', { 'trinity --help': 2 }))
  } finally {
    rmSync(folder, { recursive: true })
  }
}
