import { importVerlText } from '../../import-verl/import.js'
import { loadCatalog } from '../../run/catalog.js'
import type { ImportQuery, SourceText } from '../api.js'
import type { Handlers } from '../child/message.js'
import { formOf } from '../form/form.js'
import { checkText, type ToCheck } from './check.js'

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
