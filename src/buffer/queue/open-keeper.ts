import { isDatabaseUrl } from '../../base/database/names.js'
import type { BufferContext } from '../kind.js'
import { openTable } from '../sql/open-table.js'
import { JsonlKeeper, type Keeper, SqlKeeper } from './keeper.js'

/** A file or a table that keeps experiences beside a queue or a pipeline. */
export async function openKeeper(path: string, name: string, context: BufferContext): Promise<Keeper> {
  if (isDatabaseUrl(path)) return SqlKeeper.open(await openTable(path, name, context))
  const keeper = await JsonlKeeper.open(path)
  if (keeper.file.repair) context.onRepair?.(keeper.file.repair)
  return keeper
}
