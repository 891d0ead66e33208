import { readdir, readFile } from 'node:fs/promises'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { TrinityError } from '../../base/error.js'
import { MARKS } from '../../checkpoint/layout.js'
import { differences } from '../../config/differences.js'
import { pathParts } from '../../config/node.js'
import { printConfig } from '../../config/print.js'
import { readRecords } from '../../run/record.js'
import type { Place, SourceText, Template } from '../api.js'
import type { FoundRun } from '../run/find.js'
import { wholeText } from '../run/lines.js'
import { fileAt, isBelow, placeOf } from './place.js'

/** The examples of the package. */
const EXAMPLES = fileURLToPath(new URL('../../../examples/', import.meta.url))
const MOST_BYTES = 1 << 20
const MOST_FILES = 200
const DEPTH = 3

export async function templates(dir = EXAMPLES): Promise<Template[]> {
  const names = (await readdir(dir, { recursive: true }).catch(() => []))
    .map(String)
    // data and models that examples have made lie beside them
    .filter((name) => /\.ya?ml$/.test(name) && !/(^|\/)(made|node_modules)\//.test(name) && !isSweep(name))
    .sort()
  return Promise.all(names.map(async (name) => ({ name, doc: firstWords(await readFile(join(dir, name), 'utf8')) })))
}

/** A file of several runs is no configuration. */
const isSweep = (name: string) => /sweep\.ya?ml$/.test(name)

export async function templateText(name: string, dir = EXAMPLES): Promise<SourceText> {
  const known = await templates(dir)
  if (!known.some((one) => one.name === name)) {
    throw new TrinityError('studio/no-template', `there is no example ${name}`, { path: 'name' })
  }
  const file = join(dir, name)
  return { text: rebased(await readFile(file, 'utf8'), dirname(file)), from: `examples/${name}`, notes: [] }
}

/** Configurations that lie below the folders, not those inside of runs. */
export async function savedFiles(folders: readonly string[]): Promise<Place[]> {
  const found: Place[] = []
  async function look(folder: string, path: string, depth: number): Promise<void> {
    if (depth > DEPTH) return
    const entries = await readdir(join(folder, path), { withFileTypes: true }).catch(() => [])
    // a run: what lies in it is its own
    if (depth > 0 && entries.some(({ name }) => name === MARKS)) return
    for (const entry of entries) {
      const next = join(path, entry.name)
      if (found.length >= MOST_FILES || /^\.|^node_modules$/.test(entry.name)) continue
      if (entry.isDirectory()) await look(folder, next, depth + 1)
      else if (entry.isFile() && /\.ya?ml$/.test(entry.name)) found.push({ folder, path: next })
    }
  }
  for (const folder of folders) await look(folder, '', 0)
  return found
}

/** A configuration below the folders. */
export async function fileText(folders: readonly string[], place: Place): Promise<SourceText> {
  const file = await fileAt(folders, place)
  const text = await wholeText(file)
  if (text === undefined) {
    throw new TrinityError('studio/no-file', `there is no file ${place.path}`, { path: place.path })
  }
  return { text, from: place.path, notes: [], place }
}

/** What a run was made from: its file, where that is still at hand, otherwise what it has recorded. */
export async function runText(folders: readonly string[], run: FoundRun): Promise<SourceText> {
  const [record] = await readRecords(run.path)
  if (!record) {
    throw new TrinityError('studio/no-source', 'the run did not record its configuration', {
      hint: 'it was made by an earlier release: begin with its YAML file',
    })
  }
  const { file, config } = record
  if (file !== undefined && /\.ya?ml$/.test(file) && (await isReadable(folders, file))) {
    const text = await wholeText(file)
    const place = await placeOf(folders, file)
    if (text !== undefined && text.length < MOST_BYTES) {
      return { text: place ? text : rebased(text, dirname(file)), from: file, notes: [], place }
    }
  }
  return { text: printConfig(sparse(config)), from: 'what the run has recorded', notes: notesOn(config) }
}

/** Below the folders, or among the examples of the package. */
export async function isReadable(folders: readonly string[], file: string): Promise<boolean> {
  return (await isBelow(folders, file)) || (await isBelow([EXAMPLES], file))
}

function notesOn(config: unknown): string[] {
  const hidden = JSON.stringify(config).includes('***') ? ['Secrets are ***: fill them in.'] : []
  const why = 'These are the values of the run: its file is not below the folders, or --set has changed it.'
  return [why, ...hidden]
}

/** Only what a configuration says beside the defaults. */
export function sparse(config: unknown): Record<string, unknown> {
  const root: Record<string, unknown> = {}
  for (const { key, value } of differences(config)) {
    if (value === null) continue
    put(root, pathParts(key), value)
  }
  return root
}

function put(parent: Record<string, unknown> | unknown[], [key, ...rest]: string[], value: unknown): void {
  const at = parent as Record<string, unknown>
  if (rest.length === 0) at[key] = value
  else {
    at[key] ??= /^\d+$/.test(rest[0]) ? [] : {}
    put(at[key] as Record<string, unknown>, rest, value)
  }
}

/** A text for another folder: what it names beside itself is still found. */
export function rebased(text: string, dir: string): string {
  return text
    .replace(/\$\{config\.dir:([^{}]*)\}/g, (_, path: string) => join(dir, path.trim()))
    .replace(
      /^(extends:[ \t]+)([^\s#[]+)/m,
      (_, key: string, path: string) => key + (isAbsolute(path) ? path : resolve(dir, path)),
    )
}

/** The comment at the top. */
function firstWords(text: string): string {
  return /^#\s*(.+)$/m.exec(text.slice(0, 500))?.[1].trim() ?? ''
}
