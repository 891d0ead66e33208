// How much `trinity --help` costs on top of Node itself.
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { interleave, printTable, ratioRows, runOnce } from './lib.mjs'

export const title = 'Start of the command line'
export const about = 'trinity --help against node -e 0; target: at most 2 times'
export const quick = true

const main = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url))

export async function run() {
  if (!existsSync(main)) throw new Error('dist/ is not built: npm run build')
  const node = process.execPath
  const results = await interleave(
    {
      'node -e 0': () => runOnce(node, ['-e', '0']),
      'trinity --help': () => runOnce(node, [main, '--help']),
      'trinity --version': () => runOnce(node, [main, '--version']),
    },
    { rounds: 21 },
  )
  printTable(ratioRows(results, 'node -e 0', { 'trinity --help': 2 }))
}
