import type { TrinityError } from '../../base/error.js'
import type { Facts, Parsed, ParsedStage, Problem, Resolved } from '../../config/index.js'
import { at, markOf } from '../../config/node.js'
import type { Refusal } from './index.js'

/** What a run of a file would refuse, at the places where it stands: errors, and warnings about what this machine lacks. */
export async function preflight(parsed: Parsed, resolved: Resolved, facts: Facts): Promise<Problem[]> {
  const { isColumn, localRefusals } = await import('./index.js')
  const problems = await certain(parsed, resolved)
  for (const [i, stage] of resolved.stages.entries()) {
    const found = await localRefusals(stage, facts)
    problems.push(...found.map((one) => problemOf(one, parsed.stages[i], isColumn(one.error) ? 'error' : 'warning')))
  }
  return once(problems)
}

/** Of these what does not depend on the machine, and costs no time. */
export async function certain(parsed: Parsed, { stages }: Resolved): Promise<Problem[]> {
  const { refusals } = await import('./index.js')
  const found = await Promise.all(stages.map(refusals))
  return once(
    found.flatMap((all, i) => all.map((one) => problemOf(one, parsed.stages[i], one.isDoubtful ? 'warning' : 'error'))),
  )
}

function problemOf({ keys, error }: Refusal, { tree }: ParsedStage, severity: Problem['severity']): Problem {
  const inFile = keys.flatMap((key) => [key, asWritten(key)])
  const key = inFile.find((one) => at(tree, one) !== undefined) ?? inFile[0]
  const [, code] = error.code.split('/')
  return { severity, code, key, message: messageOf(error, keys), hint: error.hint, mark: markOf(tree, key) }
}

/** With the place in somebody's code, which the file cannot show. */
function messageOf({ message, path }: TrinityError, keys: readonly string[]): string {
  const isCode = path !== undefined && /:\d+:\d+$/.test(path) && !keys.includes(path)
  return isCode ? `${message} (${path})` : message
}

/** A single task set may stand alone. */
function asWritten(key: string): string {
  return key.replace('explorer_input.tasksets[0]', 'explorer_input.taskset')
}

/** Stages that share a section share its faults. */
function once(problems: readonly Problem[]): Problem[] {
  const idOf = ({ message, mark }: Problem) => JSON.stringify([message, mark])
  return problems.filter((one, i) => problems.findIndex((other) => idOf(other) === idOf(one)) === i)
}
