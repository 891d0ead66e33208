import pc from 'picocolors'
import { blocks, type Check, type EngineVerdict, type Report, SECTIONS, type Section } from './check.js'

const TITLES: Readonly<Record<Section, string>> = {
  runtime: 'Embedded engine',
  cpu: 'Processor and memory',
  python: 'Python (optional)',
  cuda: 'GPU (optional)',
  ray: 'Cluster (optional)',
  disk: 'Disk',
  environment: 'Environment (optional; values are never shown)',
}

/** The report as a person reads it: one line for each check, the fix below what is not well. */
export function renderReport(report: Report): string {
  const lines = [`trinity ${report.trinity} on ${report.platform}`]
  for (const section of SECTIONS) {
    const checks = report.checks.filter((check) => check.section === section)
    if (checks.length === 0) continue
    const width = Math.max(...checks.map((check) => check.name.length))
    lines.push('', pc.bold(TITLES[section]), ...checks.flatMap((check) => renderCheck(check, width)))
  }
  lines.push('', pc.bold('What this machine is ready for'), ...report.engines.flatMap(renderVerdict), '')
  lines.push(
    report.ok
      ? `${pc.green('The embedded engine can run.')}`
      : `${pc.red('The embedded engine cannot run')} until the required lines above are fixed.`,
  )
  return lines.join('\n')
}

const INDENT = ' '.repeat(10)

function renderCheck(check: Check, width: number): string[] {
  const line = `  ${color(check)(check.status.padEnd(7))} ${check.name.padEnd(width)}  ${check.found}`
  if (check.status === 'ok' || !check.fix) return [line]
  // what nobody needs gets no line of its own for the remedy
  if (check.status === 'missing' && !check.required) return [`${line}${pc.dim(`; ${check.fix}`)}`]
  return [line, `${INDENT}${pc.cyan(blocks(check) ? 'fix (required)' : 'fix')} ${check.fix}`]
}

function color(check: Check): (text: string) => string {
  if (check.status === 'ok') return pc.green
  if (check.status === 'missing' && !check.required) return pc.dim
  return check.status === 'warning' ? pc.yellow : pc.red
}

function renderVerdict(verdict: EngineVerdict): string[] {
  const mark = verdict.ready ? pc.green('yes    ') : pc.dim('no     ')
  const line = `  ${mark} ${verdict.engine.padEnd(6)}  ${verdict.why}`
  return verdict.fix ? [line, `${INDENT}${pc.cyan('fix')} ${verdict.fix}`] : [line]
}
