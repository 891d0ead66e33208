import { examine } from '../doctor/examine.js'
import { renderReport } from '../doctor/render.js'
import type { ExitCode } from './print.js'

/** 0 when the embedded engine can run on this machine, 1 otherwise. */
export async function doctor(options: { json?: boolean }): Promise<ExitCode> {
  const report = await examine()
  process.stdout.write(`${options.json ? JSON.stringify(report, null, 2) : renderReport(report)}\n`)
  return report.ok ? 0 : 1
}
