// Where the scripts of the examples write, and the program that they start.
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The folder of a script. Inside an installed package nothing is written: the next `npm install` would delete it. */
export function folderOf(script) {
  const folder = dirname(fileURLToPath(script))
  if (!/[\\/]node_modules[\\/]/.test(folder)) return folder
  console.error('error this script writes beside itself, and it is inside node_modules')
  console.error('  fix   cp -r node_modules/trinity-rft/examples . && node examples/…')
  process.exit(2)
}

/** `trinity`, of a checkout or of the package that is installed. */
export const trinity = join(dirname(fileURLToPath(import.meta.resolve('trinity-rft/package.json'))), 'dist/cli/main.js')
