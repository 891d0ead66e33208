import { readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { resolve } from '../../../test/config-kit.js'
import { makeData } from '../../../test/support/made-data.js'
import { tempDir } from '../../../test/support/temp-dir.js'
import { DOMAIN } from '../../environment/alfworld/builtin/domain.js'
import { GRAMMAR } from '../../environment/alfworld/builtin/grammar.js'
import { HOUSES, rowOf } from '../../environment/alfworld/house.fixture.js'
import { openEnvironment } from '../../environment/index.js'
import { openDataset } from '../../task/index.js'

/** A folder as alfworld-download makes it. */
async function downloaded(splits: Record<string, number>): Promise<string> {
  const folder = join(await tempDir(), 'alfworld')
  for (const [split, count] of Object.entries(splits)) {
    for (let at = 0; at < count; at++) {
      const house = HOUSES[at % HOUSES.length]
      const path = join(folder, 'json_2.1.1', split, `${house.name}-Thing-${at}`, `trial_${at}`)
      const { task, pddl_problem } = rowOf(house)
      const grammar = GRAMMAR.replace('"task":[{"rhs":""}]', `"task":[{"rhs":${JSON.stringify(task)}}]`)
      await mkdir(path, { recursive: true })
      await writeFile(join(path, 'game.tw-pddl'), JSON.stringify({ pddl_domain: DOMAIN, grammar, pddl_problem }))
      await writeFile(join(path, 'traj_data.json'), '{}')
    }
  }
  return folder
}

async function rowsIn(folder: string, split: string) {
  const source = await openDataset({ path: folder, split })
  const rows = []
  for await (const row of source.scan()) rows.push(row)
  await source.close()
  return rows
}

describe('trinity data alfworld', () => {
  it('names the files of the games, in the order of the study', async () => {
    const from = await downloaded({ train: 9, valid_seen: 3, valid_unseen: 2 })
    const made = await makeData('alfworld', { from })
    // random.seed(42); random.sample(range(9), 9); random.sample(range(3), 3)
    const numbers = (file: string) =>
      made.rows(file).map(({ game_file }) => Number(/trial_(\d)/.exec(String(game_file))?.[1]))
    const sorted = [...Array(9).keys()].sort((a, b) => (HOUSES[a % 6].name + a < HOUSES[b % 6].name + b ? -1 : 1))
    expect(numbers('train.jsonl')).toEqual([1, 0, 5, 2, 8, 4, 7, 6, 3].map((at) => sorted[at]))
    // clean-Thing-1, heat-Thing-2, put-Thing-0
    expect(numbers('test.jsonl')).toEqual([0, 2, 1])
    expect(made.rows('test.jsonl')[0].target).toBe('')
    const world = await openEnvironment('alfworld')
    for (const row of made.rows('train.jsonl')) expect((await world.reset({ row, seed: 0 })).goal).not.toBe('')
    const unseen = await makeData('alfworld', { from, test_split: 'valid_unseen', train: 4, test: 9 })
    expect([unseen.rows('train.jsonl').length, unseen.rows('test.jsonl').length]).toEqual([4, 2])
    const yaml = `model: {model_path: m, max_model_len: 64}\n${made.yaml}`
    expect(resolve(yaml).buffer.explorer_input.tasksets[0].workflow_args).toEqual({ environment: 'alfworld' })
  })

  it('writes whole games on request, which play the same and can be taken again', async () => {
    const from = await downloaded({ train: 6, valid_seen: 2 })
    const files = await makeData('alfworld', { from })
    const whole = await makeData('alfworld', { from, compact: true })
    expect(whole.files.map(({ file }) => file)).toEqual(['train.jsonl.gz', 'test.jsonl.gz'])
    const rows = await rowsIn(whole.folder, 'train')
    const world = await openEnvironment('alfworld')
    for (const [at, row] of files.rows('train.jsonl').entries()) {
      const start = await world.reset({ row, seed: 0 })
      expect(String(row.game_file)).toContain(String(rows[at].id))
      expect(await world.reset({ row: rows[at], seed: 0 })).toEqual(start)
    }
    expect(Object.keys(rows[0])).toEqual([
      'id',
      'task_type',
      'task',
      'walkthrough',
      'pddl_problem',
      'pddl_domain',
      'grammar',
    ])
    const packed = readFileSync(join(whole.folder, 'train.jsonl.gz'))
    await writeFile(join(whole.folder, 'valid_seen.jsonl'), gunzipSync(packed))
    await writeFile(join(whole.folder, 'valid_train.jsonl'), gunzipSync(packed))
    const again = await makeData('alfworld', { from: whole.folder })
    expect(readFileSync(join(again.folder, 'train.jsonl.gz'))).toEqual(packed)
  })

  it('says how to get what is not there, and what is broken', async () => {
    const from = await downloaded({ train: 2 })
    await expect(makeData('alfworld', { from })).rejects.toMatchObject({
      code: 'data/not-found',
      hint: expect.stringContaining('alfworld-download'),
    })
    const broken = await downloaded({ train: 1, valid_seen: 1 })
    await writeFile(join(broken, 'json_2.1.1/train/put-Thing-0/trial_0/game.tw-pddl'), '{')
    await expect(makeData('alfworld', { from: broken, compact: true })).rejects.toThrow('it is no JSON')
  })
})
