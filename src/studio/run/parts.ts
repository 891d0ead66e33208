import type { RunEvents, RunSummary } from '../api.js'
import { numberWord } from '../metrics/series.js'
import type { Part } from '../part.js'
import type { PartNeeds } from '../parts.js'
import { streamOf } from '../stream.js'
import { configOf } from './config.js'
import { detailOf } from './detail.js'

const POLL_MS = 250

/** The list of runs, one run, and what changes. */
export function runParts({ runs, tables, signal, opens }: PartNeeds): Part[] {
  return [
    { path: '/runs', answer: () => runs.list() },
    {
      path: '/runs/:run',
      answer: async (_, run) => detailOf(await runs.get(run), await runs.summary(run)),
    },
    { path: '/runs/:run/config', answer: async (_, run) => configOf(await runs.get(run)) },
    {
      path: '/events',
      events: (c, query) => {
        const wanted = query.text('run')
        const run = wanted === opens?.run ? undefined : wanted
        let known: Map<string, string> | undefined
        /** Numbers that the page has, or can ask for. */
        const seen = new Map<string, number>()
        return streamOf<RunEvents>(c, signal, POLL_MS, async (send) => {
          // before the first word: what comes after it is news
          const own = run === undefined ? [] : await tables.of(await runs.get(run))
          if (!known) for (const table of own) seen.set(table.role, table.changes)
          const list = await runs.list()
          const now = new Map(list.runs.map((one) => [one.id, JSON.stringify(one)]))
          if (!known) await send('runs', list)
          else {
            const changed = list.runs.filter((one) => known?.get(one.id) !== now.get(one.id))
            const gone = [...known.keys()].filter((id) => !now.has(id))
            if (changed.length > 0) await send('changed', { runs: changed })
            if (gone.length > 0) await send('gone', { ids: gone })
            const shown = changed.find((one) => one.id === run)
            if (shown) await tell(shown)
          }
          known = now
          for (const table of own) {
            const { restarted, rows } = table.since(seen.get(table.role) ?? 0)
            seen.set(table.role, table.changes)
            if (restarted) await send('rewind', { role: table.role, step: null })
            if (rows.length === 0) continue
            await send('metrics', {
              role: table.role,
              rows: rows.map((row) => ({ ...row, metrics: words(row.metrics) })),
            })
          }

          async function tell(summary: RunSummary): Promise<void> {
            await send('detail', await detailOf(await runs.get(summary.id), summary))
            await send('stale', { what: ['logs', 'rollouts', 'timeline'] })
          }
        })
      },
    },
  ]
}

function words(metrics: Readonly<Record<string, number>>): Record<string, ReturnType<typeof numberWord>> {
  return Object.fromEntries(Object.entries(metrics).map(([name, value]) => [name, numberWord(value)]))
}
