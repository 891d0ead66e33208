import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { isStepName } from '../../checkpoint/layout.js'
import { numberIn } from '../../experience/fields.js'
import type { Progress, Spark } from '../api.js'
import type { FoundRun } from './find.js'
import { inside } from './inside.js'
import { lastLines, readPart, sampledLines, withFile } from './lines.js'

/** A few lines of the numbers of a role: enough to draw a small curve and to tell how fast it goes. */
export interface Pulse {
  readonly role: string
  readonly rows: readonly PulseRow[]
}

export interface PulseRow {
  readonly step: number
  readonly time: number
  readonly metrics: Readonly<Record<string, unknown>>
}

const POINTS = 60
/** What a run is judged by, the more telling first. */
const REWARDS: readonly (readonly [role: 'trainer' | 'explorer', name: string])[] = [
  ['explorer', 'rollout/reward/mean'],
  ['trainer', 'critic/score/mean'],
  ['trainer', 'critic/rewards/mean'],
]

/** Reads a sample of the files of numbers, never all of a large one. */
export async function readPulse(dir: string, role: string): Promise<Pulse> {
  const lines = await withFile(join(dir, 'monitor', `${role}.jsonl`), async (file, size) => [
    ...(await sampledLines(file, size, POINTS)),
    ...(await lastLines(file, size, 20)),
  ])
  const rows = new Map<number, PulseRow>()
  for (const { text } of lines ?? []) {
    const row = parsed(text)
    if (row) rows.set(row.step, row)
  }
  return { role, rows: [...rows.values()].sort((a, b) => a.step - b.step) }
}

/** Names of the files with numbers below Studio's folder: roles. Tables of a role lie beside them; their lines have rows instead. */
export async function rolesWithNumbers({ root, path }: FoundRun): Promise<string[]> {
  const names = await readdir(join(path, 'monitor')).catch(() => [])
  const roles = names.filter((name) => name.endsWith('.jsonl')).map((name) => name.slice(0, -'.jsonl'.length))
  const are = await Promise.all(
    roles.map(async (role) => {
      const file = await inside(root, join(path, 'monitor', `${role}.jsonl`)).catch(() => undefined)
      return file && withFile(file, (open) => readPart(open, 0, 64))
    }),
  )
  return roles.filter((_, i) => are[i]?.includes('"metrics":')).sort()
}

export function sparkOf(pulses: readonly Pulse[]): Spark | undefined {
  for (const [kind, metric] of REWARDS) {
    for (const { role, rows } of pulses) {
      if ((role === 'trainer') !== (kind === 'trainer')) continue
      const values = rows.flatMap(({ metrics }) => numberIn(metrics[metric]) ?? [])
      if (values.length > 0) return { metric, last: values.findLast(Number.isFinite), values: means(values, POINTS) }
    }
  }
  return undefined
}

/** How far the slower side is, and how fast. */
export function progressOf(
  pulses: readonly Pulse[],
  expects: Readonly<Record<string, number>>,
  alive: boolean,
): Progress {
  const trainer = pulses.find(({ role, rows }) => role === 'trainer' && rows.length > 0)
  const used = trainer ?? pulses.find(({ rows }) => rows.length > 0)
  const role = used === undefined || used.role === 'trainer' ? 'trainer' : 'explorer'
  const rows = used?.rows ?? []
  const step = rows.at(-1)?.step ?? 0
  const total = expects[role]
  const recent = rows.slice(-20)
  const [from, to] = [recent[0], recent.at(-1)]
  const steps = from && to ? to.step - from.step : 0
  const secondsPerStep = from && to && steps > 0 && to.time > from.time ? (to.time - from.time) / steps : undefined
  const left =
    total !== undefined && secondsPerStep !== undefined ? Math.max(0, total - step) * secondsPerStep : undefined
  return { step, total, role, secondsPerStep, secondsLeft: alive ? left : undefined }
}

/** Files that a look at a database makes beside it. */
const JOURNAL = /-(shm|wal|journal)$/

/** When the run last wrote something, in seconds since 1970. Who looks at it, or gives it a tag, changes nothing. */
export async function lastChange(dir: string): Promise<number> {
  const below = await Promise.all(
    ['', 'log', 'monitor', 'buffer'].map(async (folder) => {
      const entries = await readdir(join(dir, folder), { withFileTypes: true }).catch(() => [])
      // the time of a folder moves with journals and tags that come and go in it; that of a checkpoint does not
      const own = entries.filter((entry) => (entry.isFile() && !JOURNAL.test(entry.name)) || isStepName(entry.name))
      return own.map(({ name }) => join(dir, folder, name))
    }),
  )
  const times = await Promise.all(
    below.flat().map(async (path) => (await stat(path).catch(() => undefined))?.mtimeMs ?? 0),
  )
  return Math.max(0, ...times) / 1000
}

function parsed(text: string): PulseRow | undefined {
  try {
    const { step, time, metrics } = JSON.parse(text) as Partial<PulseRow>
    if (typeof step !== 'number' || typeof metrics !== 'object' || metrics === null) return undefined
    return { step, time: typeof time === 'number' ? time : 0, metrics }
  } catch {
    return undefined
  }
}

function means(values: readonly number[], most: number): (number | null)[] {
  const points = Math.min(most, values.length)
  return Array.from({ length: points }, (_, i) => {
    const part = values.slice(Math.floor((i * values.length) / points), Math.floor(((i + 1) * values.length) / points))
    const finite = part.filter(Number.isFinite)
    return finite.length === 0 ? null : finite.reduce((sum, one) => sum + one, 0) / finite.length
  })
}
