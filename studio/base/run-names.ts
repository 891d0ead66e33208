import { computed } from '@preact/signals'
import type { RunSummary } from '../../src/studio/api.js'
import { runs } from './live.js'
import { distinctNames } from './names.js'

/** What each run is called by its id: runs of one name are told apart by the same words in every view. */
export const runNames = computed(() => {
  const all = runs.value ?? []
  const apart = distinctNames(all)
  return new Map(all.map(({ id }, index) => [id, apart[index]]))
})

/** A run that the list does not have yet is called as it calls itself. */
export const runName = ({ id, name }: Pick<RunSummary, 'id' | 'name'>): string => runNames.value.get(id) ?? name
