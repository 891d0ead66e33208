import { describe, expect, it } from 'vitest'
import { resolve } from '../../../test/config-kit.js'
import { makeData } from '../../../test/support/made-data.js'
import { testPython } from '../../../test/support/python.js'
import { openEnvironment } from '../../environment/index.js'

const python = testPython('reasoning-gym')

describe.skipIf(python.absent)(`trinity data reasoning_gym${python.note}`, () => {
  const make = (given: object) => makeData('reasoning_gym', { python: python.path, ...given })

  it('every row is the same task again, whatever the arguments of the world, and its own answer is right', async () => {
    const dataset = ['spell_backward', { name: 'chain_sum', weight: 2, config: { max_terms: 4 } }]
    const made = await make({ train: 30, test: 10, difficulty: 1, dataset })
    expect(made.files.map(({ rows }) => rows)).toEqual([10, 30])
    const rows = ['test.jsonl', 'train.jsonl'].flatMap((file) => made.rows(file))
    expect(new Set(rows.map(({ name }) => name)).size).toBe(2)
    const world = await openEnvironment('reasoning_gym', { python: python.path, size: 3, seed: 99 })
    for (const row of rows) {
      expect(await world.reset({ row, seed: 0 })).toEqual({ observation: row.question })
      expect(await world.step(String(row.answer))).toMatchObject({ reward: 1, won: true })
      expect(row.difficulty).toBe(1)
      expect(row.config).toEqual(row.name === 'chain_sum' ? { max_terms: 4 } : undefined)
    }
    await world.close()
    const yaml = `model: {model_path: m, max_model_len: 64}\n${made.yaml}`
    expect(resolve(yaml).buffer.explorer_input.tasksets[0].workflow_args).toMatchObject({
      environment: 'reasoning_gym',
    })
  })

  it('what is in the test is not trained on, and where there is nothing else that is said', async () => {
    const few = { dataset: ['coin_flip'], config: { min_trials: 3, max_trials: 3 } }
    const made = await make({ ...few, train: 5, test: 1 })
    const questions = (file: string) => made.rows(file).map(({ question }) => question)
    expect(questions('train.jsonl')).not.toContain(questions('test.jsonl')[0])
    await expect(make({ ...few, train: 50, test: 200 })).rejects.toMatchObject({ code: 'dataset/exhausted' })
  })
})
