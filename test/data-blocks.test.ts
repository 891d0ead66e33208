import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openDatabase } from '../src/base/database/database.js'
import { createTables } from '../src/buffer/sql/schema.js'
import { readText } from '../src/config/load.js'
import { problemText } from '../src/config/problem.js'
import { withoutTypes } from '../src/plugin/syntax.js'
import { parseSweep } from '../src/sweep/file.js'
import { publicNames } from './public.js'
import { blocksOf, type DocBlock, pages, root } from './support/doc-blocks.js'
import { tempDir } from './support/temp-dir.js'

/** What the pages show and is no program: each block is read by what would read it. */

const blocks = pages.flatMap(blocksOf)
const inLanguage = (name: string) => blocks.filter(({ language }) => language === name)

/** What is wrong with a configuration, or with a part of one that begins at the top. */
function problemsOf({ page, code }: DocBlock): string[] {
  if (page !== 'docs/sweep.md') return readText(code, page, { env: {} }).problems.all.map(problemText)
  expect(parseSweep(code, page).seeds).not.toEqual([])
  return []
}

describe('the pages', () => {
  it('show YAML whose keys exist and take such values, with nothing to remark', () => {
    const yaml = inLanguage('yaml')
    expect(yaml.length).toBeGreaterThan(30)
    const wrong = yaml.flatMap((block) => problemsOf(block).map((problem) => `${block.page}:${block.line}: ${problem}`))
    expect(wrong).toEqual([])
    expect(problemsOf({ ...yaml[0], code: 'buffer: { batch_sise: 2 }' }).join()).toContain('batch_size')
  })

  it('show SQL that a database of experiences answers', async () => {
    const database = await openDatabase(`sqlite:///${await tempDir()}/a.db`)
    for (const name of ['experience_buffer', 'pipeline_input']) await createTables(database, name)
    const sql = inLanguage('sql')
    expect(sql.length).toBeGreaterThan(1)
    for (const { code } of sql) expect(await database.query(code)).toEqual([])
    await database.close()
  })

  it('of SDKs, which are not installed here, show programs that can be read and import what there is', () => {
    const programs = readdirSync(join(root, 'docs/agents')).flatMap((name) => blocksOf(`docs/agents/${name}`))
    const known = publicNames().map(({ name }) => name)
    const imported = programs.flatMap(({ code }) =>
      [...withoutTypes(code).matchAll(/^import \{([^}]*)\} from 'trinity-rft/gm)].flatMap(([, names]) =>
        names.split(','),
      ),
    )
    expect(imported.length).toBeGreaterThan(5)
    expect(imported.map((name) => name.trim()).filter((name) => name !== '' && !known.includes(name))).toEqual([])
  })

  it('name no file of the repository that is not there', () => {
    const missing = pages.flatMap((page) =>
      [...readFileSync(join(root, page), 'utf8').matchAll(/(?<![\w/.])(?:examples|src|scripts|templates)\/[\w./-]*\w/g)]
        .map(([path]) => path)
        .filter((path) => !existsSync(join(root, path)) && !/\/(?:made|mine|checkpoints)\b/.test(path))
        .map((path) => `${page}: ${path}`),
    )
    expect(missing).toEqual([])
  })
})
