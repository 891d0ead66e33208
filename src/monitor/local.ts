import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { MetricsFile, type MetricsRow } from './metrics-file.js'
import type { Monitor } from './monitor.js'
import { fileName } from './names.js'
import { TableFiles } from './table-files.js'

/** What is written beside every monitor: the numbers and tables of a role as lines of JSON. */
export class LocalMonitor implements Monitor {
  readonly #metrics: MetricsFile
  readonly #tables: TableFiles

  constructor(dir: string, role: string) {
    const name = fileName(role)
    this.#metrics = new MetricsFile(join(dir, `${name}.jsonl`))
    this.#tables = new TableFiles(dir, name, () => tablesIn(dir, name))
  }

  log(metrics: Readonly<Record<string, number>>, step: number): void {
    this.#metrics.log(metrics, step)
  }

  table(name: string, rows: readonly Readonly<Record<string, unknown>>[], step: number): void {
    this.#tables.table(name, rows, step)
  }

  rewind(step: number): void {
    this.#metrics.rewind(step)
    this.#tables.rewind(step)
  }

  rows(): MetricsRow[] {
    return this.#metrics.rows()
  }

  async close(): Promise<void> {
    await this.#metrics.close()
    await this.#tables.close()
  }
}

function tablesIn(dir: string, role: string): string[] {
  const [begin, end] = [`${role}_`, '.jsonl']
  if (!existsSync(dir)) return []
  const files = readdirSync(dir).filter((file) => file.startsWith(begin) && file.endsWith(end))
  return files.map((file) => file.slice(begin.length, -end.length))
}
