// The worlds, each against the real one where that is installed: all files of bench/environment, or those that are named:
// node bench/run.mjs environment --only=alfworld,python. Other options are handed to them.
import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const folder = fileURLToPath(new URL('environment/', import.meta.url))

export const title = 'Environments'
export const about = `steps/s of the worlds, against the real ones (--only=${names().join(',')})`

function names() {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.mjs'))
    .map((file) => file.slice(0, -4))
    .sort()
}

export async function run(options = []) {
  const only = options
    .find((option) => option.startsWith('--only='))
    ?.slice(7)
    .split(',')
  for (const name of names().filter((one) => only?.includes(one) ?? true)) {
    const part = await import(`./environment/${name}.mjs`)
    console.log(`\n${part.title}: ${part.about}`)
    try {
      await part.run(options)
    } catch (error) {
      // What is not installed here says so; the others go on.
      console.log(`  not measured: ${error.message}`)
    }
  }
}
