import { existsSync } from 'node:fs'
import { readdir, realpath } from 'node:fs/promises'
import { basename, join, relative, resolve, sep } from 'node:path'
import { TrinityError } from '../../base/error.js'
import { readBestEval } from '../../checkpoint/best-eval.js'
import { stepName, stepsOnDisk, weightsPath } from '../../checkpoint/layout.js'
import { readRecords } from '../../run/record.js'
import type { ModelChoice } from '../api.js'
import type { FoundRun } from '../run/find.js'
import type { Runs } from '../run/runs.js'
import { isReadable } from '../write/source.js'

/** Runs whose checkpoints are listed, the latest first. */
const RUNS = 50
const DEPTH = 4

/** Models that can be talked to: checkpoints of runs, what runs began with, and model directories below the folders. */
export async function modelsOf(runs: Runs): Promise<ModelChoice[]> {
  const list = (await runs.list()).runs.slice(0, RUNS)
  const ofRuns = await Promise.all(
    list.map(async ({ id }) => {
      const run = await runs.get(id).catch(() => undefined)
      return run ? ofRun(runs.given, run) : []
    }),
  )
  const inFolders = await Promise.all(
    runs.given.map((folder) =>
      directories(
        folder,
        list.map(({ path }) => path),
      ),
    ),
  )
  const all = [...ofRuns.flat(), ...inFolders.flat()]
  return all.filter(({ path }, i) => all.findIndex((one) => one.path === path) === i)
}

/** Only what lies below the folders, or among the examples, is opened. */
export async function openable(folders: readonly string[], path: string): Promise<string> {
  const real = await realpath(path).catch(() => undefined)
  if (real !== undefined && (await isReadable(folders, real))) return real
  throw new TrinityError('studio/outside', `${path} is not below the folders of this Studio`, {
    path,
    hint: 'start Studio with the folder of the model as one more folder',
  })
}

async function ofRun(folders: readonly string[], { id: run, path: dir }: FoundRun): Promise<ModelChoice[]> {
  const best = await readBestEval(dir).catch(() => undefined)
  const steps = await stepsOnDisk(dir).catch(() => [])
  const made = steps.flatMap((step): ModelChoice[] => {
    const path = weightsPath(join(dir, stepName(step)))
    if (!existsSync(path)) return []
    return [{ path, name: `step ${step}`, run, step, isBest: best?.best.step === step }]
  })
  const [record] = await readRecords(dir)
  const first = record?.config.model?.model_path
  if (typeof first !== 'string' || !isModel(resolve(first)) || !(await isReadable(folders, first))) return made
  const path = await realpath(first)
  return [...made, { path, name: path.split(sep).slice(-2).join('/'), run }]
}

const isModel = (dir: string) => existsSync(join(dir, 'config.json'))

async function directories(folder: string, runs: readonly string[]): Promise<ModelChoice[]> {
  const root = await realpath(folder).catch(() => undefined)
  const found: ModelChoice[] = []
  async function look(dir: string, depth: number): Promise<void> {
    if (isModel(dir)) found.push({ path: dir, name: relative(root!, dir) || basename(dir) })
    if (depth === DEPTH || runs.includes(dir) || isModel(dir)) return
    const entries = await readdir(dir, { withFileTypes: true }).catch(() => [])
    const inside = entries.filter((one) => one.isDirectory() && !/^\.|^node_modules$/.test(one.name))
    await Promise.all(inside.map(({ name }) => look(join(dir, name), depth + 1)))
  }
  if (root !== undefined) await look(root, 0)
  return found
}
