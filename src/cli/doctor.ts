import type { Report } from '../doctor/check.js'
import { examine } from '../doctor/examine.js'
import { renderReport } from '../doctor/render.js'
import { redact, redactAll, rememberEnvironment } from '../secret/index.js'
import type { ExitCode } from './print.js'

/** 0 when the embedded engine can run on this machine, 1 otherwise. */
export async function doctor(options: { json?: boolean }, look: () => Promise<Report> = examine): Promise<ExitCode> {
  const report = await look()
  rememberEnvironment(process.env)
  const text = options.json ? JSON.stringify(redactAll(report), null, 2) : redact(renderReport(report))
  process.stdout.write(`${text}\n`)
  // a file system that never answers would keep the process alive after the report
  const hangs = report.checks.some((check) => check.section === 'disk' && check.data?.freeBytes === null)
  if (hangs) setTimeout(() => process.exit(), 2000).unref()
  return report.ok ? 0 : 1
}
