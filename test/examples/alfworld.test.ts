import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { HOUSES, rowOf } from '../../src/environment/alfworld/house.fixture.js'
import { createModel } from '../../src/model/index.js'
import { Example, root } from './kit.js'

const example = new Example()
afterAll(() => example.close())

describe('the games beside the ALFWorld example', () => {
  it('are the made-up houses of the tests', () => {
    const rows = ['train', 'test'].flatMap((split) => {
      const file = join(root, `examples/grpo_alfworld/alfworld_data/${split}.jsonl`)
      return readFileSync(file, 'utf8').trim().split('\n')
    })
    const houses = HOUSES.map(rowOf).map(({ id, ...rest }) => ({ game_file: id, target: '', ...rest }))
    expect(rows.map((row) => JSON.parse(row))).toEqual(houses)
  })
})

describe('grpo_alfworld_general_multi_step', { timeout: 180_000 }, () => {
  it('alfworld.yaml: a stand-in for its model takes two steps of training', async () => {
    const model = join(example.out, 'model')
    const shape = { layers: 1, hidden: 16, heads: 2, maxPositions: 8192 }
    await createModel({ ...shape, out: model, tokenizer: { kind: 'bytes' } })
    const ended = await example.run('grpo_alfworld_general_multi_step/alfworld.yaml', {
      'model.model_path': model,
      'model.max_model_len': 8192,
      'model.max_response_tokens': 4,
      'algorithm.repeat_times': 2,
      'buffer.batch_size': 2,
      'buffer.train_batch_size': 8,
      'buffer.total_steps': 2,
      'buffer.explorer_input.taskset.workflow_args.max_env_steps': 2,
      'explorer.rollout_model.engine_num': 1,
    })
    expect(ended).toMatchObject({ code: 0 })
    const job = 'ALFWORLD/Step_Wise_Alfworld'
    expect(example.series(job, 'trainer', 'actor/grad_norm')).toHaveLength(2)
    const of = (name: string) => example.series(job, 'explorer', `rollout/${name}/mean`)
    expect(of('env_rounds')).toEqual([2, 2])
    for (const reward of of('reward')) expect(reward).toBeCloseTo(-0.1, 6)
  })
})
