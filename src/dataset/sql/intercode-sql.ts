import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { TrinityError } from '../../base/error.js'
import { PythonRandom } from '../../base/random/index.js'
import {
  DUMPS,
  databaseIn,
  databaseName,
  goldProblem,
  readDump,
  readTasks,
  usualPlace,
} from '../../environment/sql/index.js'
import type { DataRow } from '../../task/index.js'
import { dataset } from '../dataset.js'
import type { Place } from '../place.js'
import { distinct, writeSplits } from '../world/splits.js'
import { worldYaml } from '../world/yaml.js'
import { companyOf, companyTask } from './company.js'

const args = z.strictObject({
  from: z
    .string()
    .default('')
    .describe(
      'folder with ic_spider_dev.json and ic_spider_dbs.sql (InterCode), or database/ (Spider); otherwise generated',
    ),
  train: z.int().positive().optional().describe('how many tasks; all but those for the test, 400 generated ones'),
  test: z.int().positive().default(200),
  seed: z.int().nonnegative().default(0),
})

const TASKS = 'ic_spider_dev.json'
const DATABASES = 'database'
const COMPANIES = 20
const GENERATED = 400

export const intercodeSqlTasks = dataset({
  doc: 'questions about databases, to be answered with SQL: those of InterCode, or generated ones to begin with',
  source: 'InterCode (princeton-nlp/intercode, data/sql/spider), made from Spider; or generated',
  license: 'MIT (InterCode), CC BY-SA 4.0 (Spider); generated ones: none needed',
  args,
  prepare: (given, place) => (given.from === '' ? generated(given, place) : taken(given, place)),
  yaml: (_, folder) => {
    const played = { workflow: 'intercode_sql_workflow', args: { databases: join(folder, DATABASES) } }
    return worldYaml('intercode_sql', folder, played, ['train', 'test'])
  },
})

type Args = z.output<typeof args>

async function generated({ train = GENERATED, test, seed }: Args, place: Place): Promise<void> {
  const companies = Array.from({ length: COMPANIES }, (_, i) => `company_${i + 1}`)
  for (const [i, name] of companies.entries()) {
    await place.put(join(DATABASES, `${name}.sql`), [Buffer.from(companyOf(seed * COMPANIES + i))], { seed })
  }
  const rows = () => distinct('questions', seed, (drawn) => companyTask(drawn, companies))
  await writeSplits(place, { train, test }, rows)
}

async function taken({ from, train, test, seed }: Args, place: Place): Promise<void> {
  const file = join(from, TASKS)
  if (!existsSync(file)) {
    throw new TrinityError('dataset/download', `there is no ${TASKS} in ${from}`, {
      path: from,
      hint: `where there is access: git clone https://github.com/princeton-nlp/intercode; then here: trinity data intercode_sql --from intercode/data/sql/spider`,
    })
  }
  const rows = await usable(file, place)
  new PythonRandom(seed).shuffle(rows)
  const held = Math.min(test, Math.floor(rows.length / 2))
  await place.write('test.jsonl', rows.slice(0, held))
  await place.write('train.jsonl', rows.slice(held, held + (train ?? rows.length)))
}

/** Tasks whose query runs here, with their databases copied. */
async function usable(file: string, place: Place): Promise<DataRow[]> {
  const where = usualPlace(file)
  const rows: DataRow[] = []
  const failed: string[] = []
  for (const [query_idx, task] of (await readTasks(file)).entries()) {
    place.signal?.throwIfAborted()
    const db = databaseName(task)
    const { query, gold } = task
    if (query === undefined || gold === undefined) continue
    const problem = await goldProblem(await databaseIn(where, db), gold)
    if (problem === undefined) rows.push({ query_idx, db, query, gold, hardness: (task as DataRow).hardness })
    else failed.push(`${query_idx} (${problem})`)
  }
  if (failed.length > 0)
    place.logger?.warn(`${failed.length} tasks are left out, whose query fails in SQLite: ${failed.join(', ')}`)
  for (const db of new Set(rows.map((row) => String(row.db)))) await copy(where, db, place)
  return rows
}

async function copy(where: string, db: string, place: Place): Promise<void> {
  const spider = join(where, db, `${db}.sqlite`)
  if (existsSync(spider)) await place.copy(join(DATABASES, `${db}.sqlite`), spider)
  else if (DUMPS.some((name) => where.endsWith(name))) {
    await place.put(join(DATABASES, `${db}.sql`), [Buffer.from((await readDump(where)).get(db) ?? '')])
  }
}
