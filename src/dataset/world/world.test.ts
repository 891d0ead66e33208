import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { resolve } from '../../../test/config-kit.js'
import { makeData } from '../../../test/support/made-data.js'
import { tempDir } from '../../../test/support/temp-dir.js'
import { testData } from '../../../test/support/test-data.js'
import { openEnvironment } from '../../environment/index.js'
import { drawMaps } from './frozen-lake.js'

const model = 'model: {model_path: m, max_model_len: 64}\n'

describe('trinity data frozen_lake', () => {
  it("draws the maps of the original's script", () => {
    const { train, test } = drawMaps({ train: 20, test: 5, max_size: 5, seed: 42 })
    // numpy.random.seed(42): randint(0, 100000), randint(2, 6) and uniform(0.6, 0.85), each first for 20, then for 5.
    expect(train.slice(0, 4).map(({ seed, size, p }) => [seed, size, p])).toEqual([
      [15795, 5, 0.7700768846469449],
      [860, 2, 0.7126248129923858],
      [76820, 2, 0.6033162402899666],
      [54886, 4, 0.8355504389212132],
    ])
    expect(test.map(({ seed, size, p }) => [seed, size, p])).toEqual([
      [83104, 5, 0.8105711936487496],
      [53707, 2, 0.7124385333424414],
      [85305, 4, 0.6987875590004535],
      [28693, 2, 0.8316647164484485],
      [71932, 4, 0.7818179989641052],
    ])
    expect(test[0]).toMatchObject({ index: 0, uid: '83104_5_0.8105711936487496' })
  })

  it('every row can be played', async () => {
    const made = await makeData('frozen_lake', { train: 200, test: 20 })
    expect(made.files.map(({ rows }) => rows)).toEqual([200, 20])
    const world = await openEnvironment('frozen_lake', { start: 'anywhere', env_max_steps: 8 })
    for (const row of made.rows('train.jsonl')) {
      const { observation } = await world.reset({ row, seed: 0 })
      expect(observation.split('\n')).toHaveLength(row.size as number)
    }
    const { tasksets, eval_tasksets } = resolve(model + made.yaml).buffer.explorer_input
    expect([tasksets[0].default_workflow_type, eval_tasksets[0].name]).toEqual([
      'frozen_lake_workflow',
      'frozen_lake-test',
    ])
  })
})

describe('trinity data sokoban', () => {
  it('makes different rooms with their solutions, none in both files', async () => {
    const made = await makeData('sokoban', { train: 40, test: 10, size: 5, min_moves: 3, max_moves: 12 })
    const rows = [...made.rows('train.jsonl'), ...made.rows('test.jsonl')]
    expect(new Set(rows.map(({ level }) => level)).size).toBe(50)
    const world = await openEnvironment('sokoban')
    for (const row of rows) {
      await world.reset({ row, seed: 0 })
      const ends = []
      for (const step of row.solution as string[]) ends.push((await world.step(step)).won)
      expect(ends).toEqual([...ends.slice(1).map(() => false), true])
      expect([3, 12]).toEqual([Math.min(3, ends.length), Math.max(12, ends.length)])
      expect(row.moves).toBe(ends.length)
    }
    expect(resolve(model + made.yaml).buffer.explorer_input.tasksets[0].workflow_args.environment).toBe('sokoban')
  })

  it('says so when there are no more', async () => {
    await expect(makeData('sokoban', { train: 9, test: 0, size: 5, min_moves: 45 })).rejects.toMatchObject({
      code: 'dataset/exhausted',
    })
  })

  it('takes the levels of Boxoban', async () => {
    const folder = await tempDir()
    for (const split of ['train', 'valid']) await mkdir(join(folder, split))
    const text = '; 0\n#####\n#@$.#\n#####\n\n; 1\n#####\n#.$@#\n#####\n'
    await writeFile(join(folder, 'train', '000.txt'), text)
    await writeFile(join(folder, 'valid', '003.txt'), text.slice(text.indexOf('; 1')))
    const made = await makeData('sokoban', { from: folder })
    expect(made.rows('train.jsonl')).toEqual([
      { level: '#####\n#@$.#\n#####', id: 'train/000.txt#0' },
      { level: '#####\n#.$@#\n#####', id: 'train/000.txt#1' },
    ])
    expect(made.rows('valid.jsonl')).toHaveLength(1)
    const { buffer } = parse(made.yaml)
    expect(buffer.explorer_input.eval_tasksets).toMatchObject([{ name: 'sokoban-valid', split: 'valid' }])
    await writeFile(join(folder, 'valid', '004.txt'), '; 0\n####\n#@ #\n####\n')
    await expect(makeData('sokoban', { from: folder })).rejects.toThrow(/004\.txt: level 0: this is not a level/)
    await expect(makeData('sokoban', { from: join(folder, 'no') })).rejects.toMatchObject({
      code: 'data/not-found',
      hint: expect.stringContaining('boxoban-levels'),
    })
  })

  const data = testData('sokoban/hard')
  it.skipIf(data.absent)(`takes a folder without splits to test with${data.note}`, async () => {
    const made = await makeData('sokoban', { from: data.path })
    expect(made.files).toMatchObject([{ file: 'test.jsonl', rows: 3332 }])
    expect(parse(made.yaml).buffer.explorer_input.taskset).toBeUndefined()
  })
})

describe('trinity data sudoku', () => {
  it('makes different puzzles with their solutions', async () => {
    const made = await makeData('sudoku', { train: 8, test: 2, difficulty: 'hard' })
    const rows = [...made.rows('train.jsonl'), ...made.rows('test.jsonl')]
    expect(new Set(rows.map(({ puzzle }) => JSON.stringify(puzzle))).size).toBe(10)
    const world = await openEnvironment('sudoku')
    for (const row of rows) await world.reset({ row, seed: 0 })
    expect(resolve(model + made.yaml).buffer.explorer_input.tasksets[0].default_workflow_type).toBe('sudoku_workflow')
  })
})

describe('trinity data seeds', () => {
  it('numbers the episodes of a world', async () => {
    const made = await makeData('seeds', { world: 'ez_points', train: 3, test: 2, seed: 5 })
    expect(made.rows('test.jsonl')).toEqual([{ seed: 5 }, { seed: 6 }])
    expect(made.rows('train.jsonl')).toEqual([{ seed: 7 }, { seed: 8 }, { seed: 9 }])
    expect(resolve(model + made.yaml).buffer.explorer_input.tasksets[0].workflow_args.environment).toBe('ez_points')
    await expect(makeData('seeds', { world: 'alfworld' })).rejects.toMatchObject({ code: 'args/invalid' })
  })
})
