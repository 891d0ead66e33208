import { openDatabase } from '../../base/database/database.js'
import type { BufferContext } from '../kind.js'
import { claimJob } from './job.js'
import { ExperienceTable } from './table.js'

/** A table of experiences in a database that belongs to this job. */
export async function openTable(url: string, name: string, context: BufferContext): Promise<ExperienceTable> {
  const db = await openDatabase(url, context.onAway, context.silenceMs)
  try {
    await claimJob(db, context.job)
    return await ExperienceTable.open(db, name)
  } catch (error) {
    await db.close()
    throw error
  }
}
