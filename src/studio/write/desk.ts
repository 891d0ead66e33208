import { fileURLToPath } from 'node:url'
import { importVerlText } from '../../import-verl/import.js'
import { loadCatalog } from '../../run/catalog.js'
import type { ImportQuery, SourceText } from '../api.js'
import { Child } from '../child/child.js'
import type { Handlers, Worker } from '../child/message.js'
import { formOf } from '../form/form.js'
import { checkText, type ToCheck } from './check.js'

const IDLE_MS = 600_000

/** What knows the schema and the registries. Plugins are those that Studio was started with, loaded before. */
export function deskWork(pluginDirs: readonly string[]): Handlers {
  return {
    form: async () => {
      const { workflows } = await import('../../workflow/registry.js')
      return formOf(await loadCatalog(), workflows, pluginDirs)
    },
    check: (query: ToCheck) => checkText(query),
    importVerl: async ({ text }: ImportQuery): Promise<SourceText> => {
      const { yaml, notes, missing } = importVerlText(text, { name: 'the pasted script' })
      const lost = missing.map(({ key, raw, reason }) => `${key}=${raw} has no counterpart: ${reason}`)
      return { text: yaml, from: 'a veRL script', notes: [...notes, ...lost] }
    },
  }
}

/** The same in a process of its own: a check may look for Python, and reads the data that a text names. */
export function openDesk(pluginDirs: readonly string[]): Worker {
  const file = fileURLToPath(new URL('./desk-process.js', import.meta.url))
  return new Child({ file, args: pluginDirs, name: 'the checker', idleMs: IDLE_MS })
}
