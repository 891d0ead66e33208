import { rmSync } from 'node:fs'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { resolve } from '../../../test/config-kit.js'
import { makeData } from '../../../test/support/made-data.js'
import { testData } from '../../../test/support/test-data.js'
import { openEnvironment } from '../../environment/index.js'
import { writeCatalogue } from '../../environment/webshop/catalogue.fixture.js'
import { splitSessions } from './webshop.js'

const from = writeCatalogue()
afterAll(() => rmSync(from, { recursive: true }))
const ids = (rows: readonly Record<string, unknown>[]) => rows.map(({ task_desc }) => Number(task_desc))
const range = (start: number, end: number) => Array.from({ length: end - start }, (_, i) => start + i)

it('the sessions of the study are 0 to 4095 and 4096 to 4195; small catalogues are divided alike', () => {
  const most = { train: 4096, test: 100 }
  expect(splitSessions(12_087, most)).toEqual({ train: range(0, 4096), test: range(4096, 4196) })
  expect(splitSessions(13, most)).toEqual({ train: range(0, 11), test: [11, 12] })
})

describe('trinity data webshop', () => {
  it('makes a catalogue that the world opens, and rows that it plays; and keeps both', async () => {
    const made = await makeData('webshop', { from })
    expect(made.said.at(-1)).toBe('60 products, 27 goals')
    const [train, test] = [made.rows('train.jsonl'), made.rows('test.jsonl')]
    expect([ids(train), ids(test)]).toEqual([range(0, 22), range(22, 27)])
    const { workflow_args: given } = resolve(`model: {model_path: m, max_model_len: 64}\n${made.yaml}`).buffer
      .explorer_input.tasksets[0]
    const world = await openEnvironment(given.environment as string, given.environment_args as Record<string, unknown>)
    for (const row of [...train, ...test]) {
      expect((await world.reset({ row, seed: 0 })).goal).toBe(row.instruction)
    }
    await world.close()
    const again = await makeData('webshop', { from }, made.folder)
    expect(again.files.map(({ kept }) => kept)).toEqual([true, true])
    expect(again.said).toEqual(['60 products, 27 goals'])
  })

  it('holds whole products out of goals that are made from them', async () => {
    const made = await makeData('webshop', { from, goals: 'synthetic', num_products: 40, test: 10 })
    const world = await openEnvironment('webshop', { data: made.folder, human_goals: false })
    const products = async (file: string) => {
      const found = new Set<string>()
      for (const row of made.rows(file)) {
        const { goal } = await world.reset({ row, seed: 0 })
        found.add(String(goal).replace(/ with .*|, and .*/, ''))
      }
      return found
    }
    const [train, test] = [await products('train.jsonl'), await products('test.jsonl')]
    expect(made.rows('test.jsonl')).toHaveLength(10)
    expect(train.size).toBeGreaterThan(5)
    expect(made.rows('train.jsonl').length).toBeGreaterThan(50)
    const all = [...made.rows('train.jsonl'), ...made.rows('test.jsonl')]
    expect(new Set(ids(all)).size).toBe(all.length)
    expect([...test].every((goal) => !train.has(goal))).toBe(true)
  })

  it('says how the data are fetched', async () => {
    vi.stubEnv('WEBSHOP_PATH', '')
    await expect(makeData('webshop', {})).rejects.toMatchObject({
      code: 'dataset/download',
      hint: expect.stringMatching(/gdown[\s\S]*trinity data webshop --from/),
    })
    vi.unstubAllEnvs()
  })
})

const shared = testData('webshop/documents_1000.jsonl')
it.skipIf(shared.absent)(`a thousand products make 4,096 sessions to train and 100 to test${shared.note}`, async () => {
  const made = await makeData('webshop', { from: testData('webshop').path, goals: 'synthetic' })
  expect(made.said.at(-1)).toBe('1000 products, 6910 goals')
  expect(made.files.map(({ rows }) => rows)).toEqual([4096, 100])
})
