import { join } from 'node:path'
import type { Lane, MetricList, SeriesAnswer } from '../api.js'
import type { FoundRun } from '../run/find.js'
import { inside } from '../run/inside.js'
import { rolesWithNumbers } from '../run/pulse.js'
import { numberWord, type SeriesOptions, seriesOf } from './series.js'
import { SpanTable } from './span-table.js'
import { MetricsTable } from './table.js'

/** Runs whose numbers are kept: enough for a comparison. */
const MOST_RUNS = 12

/** The numbers of the runs that somebody looks at. */
export class MetricsTables {
  /** In order of use: the first goes first. */
  readonly #runs = new Map<string, { readonly roles: Map<string, MetricsTable>; readonly spans: SpanTable }>()

  /** One for each role, as they are now. The trainer comes first. */
  async of(run: FoundRun): Promise<MetricsTable[]> {
    const tables = await this.known(run)
    await Promise.all(tables.map((table) => table.poll()))
    return tables
  }

  /** Without a look at what is new in them. */
  async known(run: FoundRun): Promise<MetricsTable[]> {
    const { id, path, root } = run
    const { roles } = this.#keep(id)
    for (const role of await rolesWithNumbers(run)) {
      if (roles.has(role)) continue
      const file = await inside(root, join(path, 'monitor', `${role}.jsonl`)).catch(() => undefined)
      if (file !== undefined) roles.set(role, new MetricsTable(role, file))
    }
    return [...roles.values()].sort((a, b) => Number(b.role === 'trainer') - Number(a.role === 'trainer'))
  }

  /** What the run has recorded of who did what when; none: nothing. */
  lanes(run: FoundRun): Promise<Lane[]> {
    return this.#keep(run.id).spans.read(run)
  }

  #keep(id: string) {
    const kept = this.#runs.get(id) ?? { roles: new Map<string, MetricsTable>(), spans: new SpanTable() }
    this.#runs.delete(id)
    this.#runs.set(id, kept)
    for (const [oldest] of this.#runs) {
      if (this.#runs.size <= MOST_RUNS) break
      this.#runs.delete(oldest)
    }
    return kept
  }

  async list(run: FoundRun): Promise<MetricList> {
    const tables = await this.of(run)
    const metrics = tables.flatMap(({ role, columns }) =>
      [...columns].map(([name, { values }]) => ({
        name,
        role,
        count: values.length,
        last: numberWord(values.at(-1) as number),
      })),
    )
    return {
      metrics: metrics.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0)),
      roles: tables.map(({ role, steps }) => ({ role, steps: steps.length, first: steps[0], last: steps.at(-1) })),
    }
  }

  async series(
    run: FoundRun,
    names: readonly string[],
    options: SeriesOptions & { readonly role?: string },
  ): Promise<SeriesAnswer> {
    const tables = (await this.of(run)).filter(({ role }) => options.role === undefined || role === options.role)
    const found = names.map((name) => {
      const table = tables.find(({ columns }) => columns.has(name))
      return table && seriesOf(table, name, options)
    })
    return {
      series: found.filter((one) => one !== undefined),
      unknown: names.filter((_, i) => found[i] === undefined),
    }
  }
}
