import { z } from 'zod'
import { TrinityError } from '../../base/error.js'
import type { TagList } from '../api.js'
import { acting, type Part } from '../part.js'
import type { Runs } from '../run/runs.js'
import { writeTags } from '../run/tags.js'
import { deleteRun, deletionOf } from './delete.js'

const tags = z.array(z.string().min(1).max(60)).max(20)

/** What is done with runs that are there: words for them, and their end. */
export function keepParts(runs: Runs): Part[] {
  return [
    { path: '/runs/:run/deletion', answer: async (_, run) => deletionOf(await runs.get(run)) },
    acting('/runs/:run/delete', z.strictObject({ name: z.string() }), async ({ name }, id) => {
      const run = await runs.get(id)
      const summary = await runs.summary(id)
      // what the person has read is what goes
      if (summary.name === name) return deleteRun(run)
      throw new TrinityError('studio/query', `the run is called '${summary.name}', not '${name}'`, { path: 'name' })
    }),
    acting('/runs/:run/tags', z.strictObject({ tags }), async (body, run): Promise<TagList> => {
      return { tags: await writeTags((await runs.get(run)).path, body.tags) }
    }),
  ]
}
