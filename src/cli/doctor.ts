import { exit } from '../base/exit.js'
import { redact, redactAll, rememberEnvironment } from '../base/secret/index.js'
import { engineLookup } from '../engine/registry.js'
import type { Report } from '../machine/doctor/check.js'
import { examine } from '../machine/doctor/examine.js'
import { renderReport } from '../machine/doctor/render.js'
import { usePlugins } from '../plugin/use.js'
import type { ExitCode } from './print.js'
import { typed } from './suggestion.js'

const lookHere = () => examine(engineLookup.all())

export interface DoctorOptions {
  json?: boolean
  pluginDir?: string[]
}

/** 0 when the embedded engine can run on this machine, 1 otherwise. */
export async function doctor(options: DoctorOptions, look: () => Promise<Report> = lookHere): Promise<ExitCode> {
  await usePlugins(options.pluginDir)
  const report = await look()
  rememberEnvironment(process.env)
  const text = options.json ? JSON.stringify(redactAll(report), null, 2) : redact(typed(renderReport(report)))
  process.stdout.write(`${text}\n`)
  // a file system that never answers would keep the process alive after the report
  const hangs = report.checks.some((check) => check.section === 'disk' && check.data?.freeBytes === null)
  if (hangs) setTimeout(() => exit(), 2000).unref()
  return report.ok ? 0 : 1
}
