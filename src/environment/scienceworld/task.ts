import { z } from 'zod'
import { TrinityError } from '../../base/error.js'
import { isJsonObject } from '../../base/file/json-file.js'
import { parseJsonText } from '../../base/json-text.js'
import { nearest } from '../../base/nearest.js'
import type { EpisodeSpec } from '../environment.js'
import { readRow, rowError, wholeNumber } from '../row.js'

/** What a row asks for. */
export interface AskedTask {
  readonly name: string
  /** Undefined: it may stand at the end of the name. */
  readonly variation?: number
  /** The file of the simulator, as the machine that wrote the row had it. */
  readonly jar?: string
}

const WORLD = 'ScienceWorld'
const columns = z.object({
  task_name: z.string().min(1),
  var_num: wholeNumber(0),
  jar_path: z.string().optional(),
})

/** The task of an episode: JSON in the column of the prompt, `name-variation` there, or columns of their own. */
export function askedTask({ row, text }: EpisodeSpec): AskedTask {
  if (row.task_name !== undefined) return fromFields(row)
  const given = text ?? row.task_desc
  if (isJsonObject(given)) return fromFields(given)
  if (typeof given !== 'string' || given.trim() === '') {
    throw rowError(WORLD, 'task_desc', 'expected the task as JSON with task_name and var_num', given)
  }
  if (!given.trimStart().startsWith('{')) return { name: given.trim() }
  let fields: unknown
  try {
    fields = parseJsonText(given)
  } catch (error) {
    throw rowError(WORLD, 'task_desc', `it is no JSON: ${(error as Error).message}`, given)
  }
  return fromFields(fields as Record<string, unknown>)
}

function fromFields(fields: Record<string, unknown>): AskedTask {
  const { task_name, var_num, jar_path } = readRow(WORLD, columns, fields)
  return { name: task_name, variation: var_num, jar: jar_path }
}

/** The simulator's own name of a task, and the variation. */
export function settledTask(
  { name, variation }: AskedTask,
  known: readonly string[],
): { task: string; variation: number } {
  const task = plainName(name)
  if (known.includes(task)) return { task, variation: variation ?? 0 }
  const [, head, digits] = (variation === undefined && /^(.+)-(\d{1,6})$/.exec(task)) || []
  if (digits !== undefined && known.includes(head)) return { task: head, variation: Number(digits) }
  const near = nearest(head ?? task, known)
  throw new TrinityError('environment/task', `ScienceWorld has no task '${name}'`, {
    path: 'task_name',
    hint: near ? `did you mean ${near}?` : `its tasks are ${known.join(', ')}`,
  })
}

/** Older data sets number the tasks, put parts in parentheses, and misspell one. */
function plainName(name: string): string {
  return name.replaceAll('mendellian', 'mendelian').replace(/task-[\dab]+-|[()]/g, '')
}

/** Of electrical tasks, whatever the simplification: without wires they cannot be solved. */
export function checkSimplifications(task: string, simplifications: string): void {
  if (!/power-component|conductivity/.test(task) || !simplifications.includes('noElectricalAction')) return
  throw new TrinityError('environment/task', `the task ${task} needs wires, which noElectricalAction takes away`, {
    path: 'simplifications',
    hint: "leave it out, or use 'easy', which knows such tasks",
  })
}

export function checkVariation(task: string, variation: number, count: number): void {
  if (variation < count) return
  throw new TrinityError('environment/task', `the task ${task} has no variation ${variation}`, {
    path: 'var_num',
    hint: `it has ${count}, from 0 to ${count - 1}`,
  })
}
