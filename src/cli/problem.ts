import pc from 'picocolors'
import { markText } from '../config/node.js'
import { type Problem, problemText } from '../config/problem.js'

/** Each problem on a line of its own, place first, so that editors and terminals can jump there. */
export function problemLines(problems: readonly Problem[]): string[] {
  return problems.map((problem) => {
    const where = problem.mark ? `${markText(problem.mark)}  ` : ''
    const hint = problem.hint ? `\n      ${pc.cyan('fix')} ${problem.hint}` : ''
    return `  ${pc.dim(where)}${problem.key ? `${pc.bold(problem.key)}: ` : ''}${problem.message}${hint}`
  })
}

/** Warnings one by one; notes of the same kind together, so that ordinary files stay quiet. */
export function remarkLines(remarks: readonly Problem[]): string[] {
  const lines = warningLines(remarks.filter((one) => one.severity === 'warning').map(problemText))
  const notes = remarks.filter((one) => one.severity === 'note')
  const aliases = notes.filter((one) => one.code === 'alias').map((one) => `${one.key} ${one.message}`)
  const idle = byReason(notes.filter((one) => one.code === 'no-effect'))
  const rest = notes.filter((one) => one.code !== 'alias' && one.code !== 'no-effect')
  if (aliases.length > 0) lines.push(`  ${pc.dim('note')} older names: ${aliases.join('; ')}`)
  if (idle.length > 0) lines.push(`  ${pc.dim('note')} without effect here: ${idle.join('; ')}`)
  return [...lines, ...rest.map((one) => `  ${pc.dim('note')} ${problemText(one)}`)]
}

/** Keys of the same reason together. */
function byReason(notes: readonly Problem[]): string[] {
  const keys = new Map<string, string[]>()
  for (const { key, message } of notes) keys.set(message, [...(keys.get(message) ?? []), key])
  return [...keys].map(([message, all]) => `${all.join(', ')} (${message})`)
}

export function warningLines(texts: readonly string[]): string[] {
  return texts.map((text) => `  ${pc.yellow('warning')} ${text}`)
}
