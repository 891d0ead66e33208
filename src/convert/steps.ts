import { readdir, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { TrinityError } from '../base/error.js'

const STEP = /^global_step_(\d+)$/
/** Folders below a checkpoint root are few; a link to a parent must not make a walk without end. */
const DEEPEST = 8

export interface StepDir {
  readonly step: number
  readonly path: string
}

/** The checkpoints that a path means: the one it is, the one it lies in, or all below it. */
export async function findSteps(path: string): Promise<StepDir[]> {
  const whole = resolve(path)
  if (!(await stat(whole).catch(() => undefined))) {
    throw new TrinityError('convert/missing', `there is no ${path}`, {
      path,
      hint: 'give the folder of a run or of a checkpoint',
    })
  }
  for (let dir = whole; dir !== dirname(dir); dir = dirname(dir)) {
    const match = STEP.exec(basename(dir))
    if (match) return [{ step: Number(match[1]), path: dir }]
  }
  const found = await below(whole, 0)
  return found.sort((a, b) => a.step - b.step || (a.path < b.path ? -1 : 1))
}

async function below(dir: string, depth: number): Promise<StepDir[]> {
  const entries = await readdir(dir, { withFileTypes: true }).catch(() => [])
  const found: StepDir[] = []
  for (const entry of entries) {
    if (!entry.isDirectory()) continue
    const [path, match] = [join(dir, entry.name), STEP.exec(entry.name)]
    if (match) found.push({ step: Number(match[1]), path })
    else if (depth < DEEPEST) found.push(...(await below(path, depth + 1)))
  }
  return found
}

/** Numbers separated by commas or spaces. */
export function parseSteps(text: string): number[] {
  const words = text.split(/[\s,]+/).filter((word) => word !== '')
  if (words.length > 0 && words.every((word) => /^\d{1,15}$/.test(word))) return [...new Set(words.map(Number))]
  throw new TrinityError('cli/steps', `'${text}' is not a list of steps`, {
    path: '--step',
    hint: 'write numbers: 100,200',
  })
}
