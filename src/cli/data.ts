import { join } from 'node:path'
import pc from 'picocolors'
import { z } from 'zod'
import { bytes } from '../base/bytes.js'
import { TrinityError } from '../base/error.js'
import { type DatasetEntry, datasets, Place, type PlacedFile, readRecord, stateOf } from '../dataset/index.js'
import { usePlugins } from '../plugin/use.js'
import { optionOf, parseOptions } from './options.js'
import type { ExitCode } from './print.js'

export interface DataOptions {
  out?: string
  verify?: boolean
  pluginDir?: string[]
}

const NO_OPTIONS = z.strictObject({})
const say = (text: string) => process.stdout.write(`${text}\n`)

/** `trinity data`: lists what there is, makes one of them, or checks what was made. */
export async function data(
  name: string | undefined,
  words: readonly string[],
  options: DataOptions,
  help: () => string,
): Promise<ExitCode> {
  await usePlugins(options.pluginDir)
  const asked = [name, ...words].some((word) => word === '--help' || word === '-h')
  if (name === undefined || name.startsWith('-')) {
    if (name !== undefined && !asked) parseOptions('trinity data without a name', NO_OPTIONS, [name, ...words])
    say(asked ? help() : list())
    return 0
  }
  const entry = datasets.get(name)
  if (asked) {
    say(`${help()}\n${describe(name, entry)}`)
    return 0
  }
  const folder = options.out ?? join('data', name)
  if (options.verify) return verify(name, folder)
  const args = parseOptions(`trinity data ${name}`, entry.args, words)
  const place = await prepare(name, entry, args, folder)
  if (!place) return 130
  say(`${pc.bold(name)} in ${folder}`)
  for (const line of table(place.files)) say(line)
  say(`license: ${entry.license}\nsource: ${entry.source}\n\nTo use it:\n`)
  say(
    entry
      .yaml(args as never, folder)
      .replace(/^(?=.)/gm, '  ')
      .trimEnd(),
  )
  return 0
}

/** Ctrl-C ends it in the middle of a file; what is complete stays. Undefined: it was ended so. */
async function prepare(name: string, entry: DatasetEntry, args: object, folder: string): Promise<Place | undefined> {
  const control = new AbortController()
  const stop = () => control.abort(new TrinityError('dataset/stopped', 'stopped'))
  process.once('SIGINT', stop)
  try {
    const { source, license } = entry
    const logger = { debug: () => {}, info: tell, warn: tell, error: tell }
    const making = { name, source, license, args: args as Record<string, unknown> }
    const place = await Place.open(folder, making, { logger, signal: control.signal })
    await entry.prepare(args as never, place)
    return place
  } catch (error) {
    if (!control.signal.aborted) throw error
    tell('stopped: the same command goes on from here')
    return undefined
  } finally {
    process.off('SIGINT', stop)
  }
}

const tell = (message: string) => process.stderr.write(`${pc.dim(message)}\n`)

function table(files: readonly PlacedFile[]): string[] {
  const wide = Math.max(...files.map(({ file }) => file.length))
  return files.map(({ file, rows, bytes: size, kept }) => {
    const count = rows === undefined ? '' : `${rows.toLocaleString('en')} ${rows === 1 ? 'row' : 'rows'}`
    return `  ${file.padEnd(wide)}  ${count.padStart(14)}  ${bytes(size).padStart(9)}${kept ? pc.dim('  was there') : ''}`
  })
}

async function verify(name: string, folder: string): Promise<ExitCode> {
  const record = await readRecord(folder)
  if (record?.name !== name) {
    throw new TrinityError('data/not-found', `there is no data set '${name}' in ${folder}`, {
      path: folder,
      hint: record ? `it holds '${record.name}'` : `make it: trinity data ${name}, or give its folder with --out`,
    })
  }
  let wrong = 0
  for (const [file, known] of Object.entries(record.files)) {
    const state = await stateOf(join(folder, file), known)
    if (state !== 'unchanged') wrong++
    say(`  ${state === 'unchanged' ? pc.green('ok     ') : pc.red(state.padEnd(7))} ${file}`)
  }
  if (wrong > 0) say(`${wrong} of ${Object.keys(record.files).length} files differ from what was written`)
  return wrong > 0 ? 1 : 0
}

function list(): string {
  const entries = datasets.names().map((name) => ({ name, entry: datasets.get(name) }))
  const lines = entries.map(
    ({ name, entry }) => `${pc.bold(name)}: ${entry.doc}\n  ${pc.dim(`${entry.source}; license: ${entry.license}`)}`,
  )
  return `${lines.join('\n')}\n\ntrinity data <name> [--out DIR] makes one; trinity data <name> --help shows its options`
}

/** The options of one data set with their defaults. */
function describe(name: string, { doc, args }: DatasetEntry): string {
  const lines = Object.entries(args.shape as Record<string, z.ZodType>).map(([key, field]) => {
    const { success, data } = field.safeParse(undefined)
    const text = [field.description, success ? defaultText(data) : 'required'].filter(Boolean).join('; ')
    return `  ${optionOf(key).padEnd(22)} ${text}`
  })
  return `Options of ${name} (${doc}):\n${lines.join('\n')}`
}

/** Nothing is said of a default that is nothing. */
function defaultText(value: unknown): string {
  if (value === null || value === undefined || value === '') return ''
  const isList = Array.isArray(value) && value.every((item) => typeof item !== 'object')
  const text = isList ? value.join(',') : typeof value === 'object' ? JSON.stringify(value) : String(value)
  return text === '' || text === '{}' || text === '[]' ? '' : `default ${text}`
}
