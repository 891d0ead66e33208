// npm run bench [-- name … [options]]: runs bench/<name>.mjs or bench/<name>/index.mjs. Without names: lists what
// there is and runs the quick ones. A module exports `title`, `about`, `async run(args)`, and `quick = true` when it
// takes seconds. Options (words that start with -) are handed to the modules; --list only lists.
import { existsSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { machineLine } from './lib.mjs'

const folder = dirname(fileURLToPath(import.meta.url))
const NOT_BENCHMARKS = new Set(['run', 'lib'])

/** Name → file of every benchmark. */
function benchmarks() {
  const found = new Map()
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const name = entry.isDirectory() ? entry.name : /^(.+)\.mjs$/.exec(entry.name)?.[1]
    const file = entry.isDirectory() ? join(folder, entry.name, 'index.mjs') : join(folder, entry.name)
    if (name && !name.includes('.test') && !NOT_BENCHMARKS.has(name) && existsSync(file)) found.set(name, file)
  }
  return new Map([...found].sort())
}

async function load(file) {
  try {
    return await import(pathToFileURL(file).href)
  } catch (error) {
    return { about: `cannot be loaded: ${error.message}`, broken: error }
  }
}

// `--against torch` is `--against=torch`: the word after it is no benchmark.
const args = process.argv.slice(2).join('\n').replaceAll('--against\n', '--against=').split('\n').filter(Boolean)
const wanted = args.filter((arg) => !arg.startsWith('-'))
const options = args.filter((arg) => arg.startsWith('-') && arg !== '--list')
const files = benchmarks()
const unknown = wanted.filter((name) => !files.has(name))
if (unknown.length > 0) {
  console.error(
    `no benchmark ${unknown.map((name) => `'${name}'`).join(', ')}; there are: ${[...files.keys()].join(', ')}`,
  )
  process.exit(2)
}

const names = wanted.length > 0 ? wanted : [...files.keys()]
const modules = new Map(await Promise.all(names.map(async (name) => [name, await load(files.get(name))])))
if (wanted.length === 0) {
  const width = Math.max(...names.map((name) => name.length))
  for (const [name, module] of modules) {
    console.log(`${name.padEnd(width)}  ${module.about}${module.quick || module.broken ? '' : ' (only by name)'}`)
  }
  console.log('')
}
if (!args.includes('--list')) {
  console.log(machineLine())
  for (const [name, module] of modules) {
    if (wanted.length === 0 && !module.quick && !module.broken) continue
    console.log(`\n${module.title ?? name}`)
    try {
      if (module.broken) throw module.broken
      await module.run(options)
    } catch (error) {
      console.error(`${name} failed: ${error.stack ?? error}`)
      process.exitCode = 1
    }
  }
}
