import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as vitest from 'vitest'
import { contextOf, modelOf, speaker, taskOf } from '../../../test/support/workflow-kit.js'
import { describeEnvironment } from '../../testing/index.js'
import { worldWorkflows } from '../../workflow/environment/worlds.js'
import { openEnvironment } from '../index.js'

const { afterAll, beforeAll, describe, expect, it } = vitest

const setup = "CREATE TABLE singer (id INTEGER, name TEXT); INSERT INTO singer VALUES (1, 'Ann'), (2, 'Bo'), (3, 'Cy')"
const query = 'Who sings, by name?'
const gold = 'SELECT name FROM singer ORDER BY name'
const row = { db: 'band', query, gold, setup }
const count = { ...row, query: 'How many?', gold: 'SELECT count(*) FROM singer' }
let dir: string

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'trinity-intercode-'))
  await mkdir(join(dir, 'database', 'band'), { recursive: true })
  await writeFile(join(dir, 'database', 'band', 'schema.sql'), setup)
  const tasks = [
    { extra: { db: 'band' }, query, gold },
    { db: 'band', query: count.query, gold: count.gold },
  ]
  await writeFile(join(dir, 'tasks.json'), JSON.stringify(tasks))
  await writeFile(join(dir, 'bad.json'), '{')
})
afterAll(() => rm(dir, { recursive: true, force: true }))

describeEnvironment(vitest, 'intercode_sql', {
  open: () => openEnvironment('intercode_sql', {}),
  episodes: [row, count].map((one) => ({ row: one, seed: 0 })),
  actions: ['SELECT * FROM singer', gold, 'DELETE FROM singer WHERE id = 2', 'SELECT nobody FROM singer'],
  ending: { episode: { row, seed: 0 }, actions: [gold, 'submit'] },
  refused: ({ metrics }) => metrics?.valid_action === 0,
  steps: 6,
})

describe('intercode_sql', () => {
  const play = async (actions: string[], given: object = row, args = {}) => {
    const world = await openEnvironment('intercode_sql', args)
    await world.reset({ row: given as never, seed: 0, text: undefined })
    const seen = []
    for (const action of actions) seen.push(await world.step(action))
    await world.close()
    return seen
  }

  it('earns the overlap of the last result with that of the gold query, which ran before any change', async () => {
    expect((await play([gold, 'submit'])).at(-1)).toMatchObject({ reward: 1, done: true, won: true })
    expect((await play(["SELECT name FROM singer WHERE name < 'C'", 'Submit;'])).at(-1)).toMatchObject({ reward: 0.67 })
    expect((await play(['SELECT name FROM singer ORDER BY name DESC', 'submit'])).at(-1)).toMatchObject({ reward: -1 })
    const changed = await play(["DELETE FROM singer WHERE name <> 'Ann'", gold, 'submit'])
    expect(changed.map(({ observation }) => observation)).toEqual(['None', "[('Ann',)]", "[('Ann',)]"])
    expect(changed.at(-1)?.reward).toBeCloseTo(1 / 3)
    expect((await play(['submit'])).at(-1)).toMatchObject({ reward: 0, done: true })
    expect((await play([gold, 'SELECT nobody', 'submit'])).at(-1)).toMatchObject({ reward: 0 })
  })

  it('without submit an episode is worth its last result, unless auto_submit is off', async () => {
    expect((await play([gold])).at(-1)).toMatchObject({ reward: 0, score: 1, done: false })
    expect((await play([gold], row, { auto_submit: false })).at(-1)).toMatchObject({ score: 0 })
  })

  it('who empties the tables is not right', async () => {
    const emptied = await play(['DELETE FROM singer', gold, 'submit'])
    expect(emptied.map(({ observation }) => observation)).toEqual(['None', '[]', '[]'])
    expect(emptied.at(-1)).toMatchObject({ reward: 0, won: false })
  })

  it('finds tasks by number in the file, and databases beside it', async () => {
    const args = { data_path: join(dir, 'tasks.json') }
    expect((await play([gold, 'submit'], {}, args)).at(-1)?.reward).toBe(1)
    expect((await play([count.gold, 'submit'], { query_idx: '1' }, args)).at(-1)?.reward).toBe(1)
    const dump = join(dir, 'ic_spider_dbs.sql')
    await writeFile(dump, `USE \`band\`; ${setup};`)
    expect((await play([gold, 'submit'], {}, { ...args, databases: dump })).at(-1)?.reward).toBe(1)
    await expect(play([], { ...row, setup: null, db: 'x' }, { databases: dump })).rejects.toMatchObject({ path: dump })
  })

  it.each([
    ['environment/data', {}, {}],
    ['environment/data', {}, { data_path: 'bad.json' }],
    ['environment/row', { query_idx: 2 }, { data_path: 'tasks.json' }],
    ['environment/row', { query_idx: -1 }, { data_path: 'tasks.json' }],
    ['environment/row', { ...row, gold: 'SELECT nobody' }, {}],
    ['environment/row', { ...row, db: '../../etc' }, {}],
    ['environment/row', { ...row, query: 3 }, {}],
    ['environment/data', { ...row, setup: null, db: 'other' }, { data_path: 'tasks.json' }],
    ['environment/data', { ...row, setup: 'CREATE' }, {}],
  ])('says %s to the row %j', async (code, given, args: { data_path?: string }) => {
    const whole = args.data_path === undefined ? {} : { data_path: join(dir, args.data_path) }
    await expect(play([], given, whole)).rejects.toMatchObject({ code })
  })

  it('is a workflow: invalid replies cost a step, and keep what the last result is worth', async () => {
    const replies = [`<think>a</think><action>${gold}</action>`, 'what?']
    const Kind = worldWorkflows.intercode_sql_workflow
    const prompts: string[] = []
    const model = modelOf(
      await speaker((prompt) => {
        prompts.push(prompt)
        return replies[prompts.length - 1]
      }),
    )
    const task = taskOf({ raw: row, workflow: 'intercode_sql_workflow', workflowArgs: { max_env_steps: 2 } })
    const workflow = new Kind(contextOf(model, { task }))
    const [experience] = await workflow.run()
    await workflow.close()
    expect(experience).toMatchObject({ reward: 1, metrics: { env_rounds: 2, env_done: 0, final_reward: 1 } })
    expect(prompts[0]).toContain(`Question: ${query}\nDatabase: band\nObservation: None`)
    expect(prompts[1]).toContain("Observation: [('Ann',), ('Bo',), ('Cy',)]")
  })
})
