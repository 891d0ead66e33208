import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { engine, stepConfig, tempDir, VOCAB } from '../../test/trainer/kit.js'
import { Lab } from '../../test/trainer/lab.js'
import type { Engine } from '../engine/contract.js'
import { NativeEngine } from '../engine/native/engine.js'
import { createExperience } from '../experience/index.js'
import { createModel } from '../model/create.js'
import { Tokenizer } from '../model/tokenizer.js'

/** Answers that count upward are right. Chance gives 1 of 6 (mock), 1 of 13 (native). */
interface Place {
  name: string
  open(): Promise<{ engine: Engine; path: string; digits: number[] }>
  lr: number
  steps: number
}

let dir: string
const native = new NativeEngine()
beforeAll(async () => {
  dir = await tempDir()
})
afterAll(async () => {
  await native.close()
  await rm(dir, { recursive: true })
})

const places: Place[] = [
  {
    name: 'mock',
    open: async () => ({ engine: engine(), path: 'mock', digits: Array.from({ length: VOCAB }, (_, i) => i) }),
    lr: 0.15,
    steps: 30,
  },
  {
    name: 'native',
    async open() {
      const path = join(dir, 'tiny')
      const shape = { layers: 1, hidden: 32, heads: 2, intermediate: 64, maxPositions: 64, seed: 3 }
      const tokenizer = { kind: 'chars' as const, characters: '012345' }
      await createModel({ out: path, ...shape, tokenizer, force: true })
      const vocabulary = await Tokenizer.load(path)
      const digits = [...'012345'].map((digit) => vocabulary.encode(digit)[0])
      return { engine: native, path, digits }
    },
    lr: 0.01,
    steps: 40,
  },
]

const critic = 'trainer.trainer_config.critic.optim'
const online: [string, (lr: number) => Record<string, unknown>, { turns?: number; margin: number }][] = [
  ['grpo', () => ({}), { margin: 0.4 }],
  ['ppo', (lr) => ({ [`${critic}.lr`]: 2 * lr, 'algorithm.repeat_times': 8 }), { margin: 0.4 }],
  ['opmd', () => ({}), { margin: 0.4 }],
  ['raft', () => ({}), { margin: 0.2 }],
  ['multi_step_grpo', () => ({}), { turns: 2, margin: 0.4 }],
]

describe.each(places)('on the $name engine', ({ open, lr, steps }) => {
  const settings = {
    'algorithm.repeat_times': 8,
    'algorithm.optimizer.lr': lr,
    'trainer.grad_clip': 1,
    'trainer.trainer_config.actor_rollout_ref.actor.optim.override_optimizer_config.eps': 1e-8,
  }

  // Over several seeds the gain was 0.55 … 0.9, with raft 0.3 … 0.5.
  it.each(online)('%s raises the reward', { timeout: 60_000 }, async (algorithm, set, rest) => {
    const config = stepConfig(algorithm, { ...settings, ...set(lr) })
    const lab = await Lab.open({ ...(await open()), config, seed: 7, ...rest })
    const { first, last } = await lab.improve(steps)
    expect(last, `from ${first}`).toBeGreaterThan(first + rest.margin)
  })

  it('sft lowers the loss', async () => {
    const { digits, ...rest } = await open()
    const lab = await Lab.open({ ...rest, digits, config: stepConfig('sft', settings), seed: 7 })
    const data = digits.map((_, i) =>
      createExperience({
        eid: { task: i },
        tokens: [0, 1, 2, 3].map((k) => digits[(i + k) % digits.length]),
        promptLength: 1,
      }),
    )
    const losses: number[] = []
    for (let step = 0; step < steps; step++) losses.push((await lab.learn(data))['actor/sft_loss'])
    expect(losses.at(-1)).toBeLessThan(losses[0] / 3)
  })

  it('dpo learns which answer is preferred', async () => {
    const { digits, ...rest } = await open()
    const config = stepConfig('dpo', { ...settings, 'algorithm.policy_loss_fn_args': { beta: 0.3 } })
    const lab = await Lab.open({ ...rest, digits, config, seed: 7 })
    const pairs = digits.map((digit, i) =>
      createExperience({
        eid: { task: i },
        tokens: [digits[0], digit],
        chosen: [digits[(i + 1) % digits.length], digits[(i + 2) % digits.length]],
        rejected: [digits[(i + 3) % digits.length], digits[(i + 5) % digits.length]],
      }),
    )
    const seen: Record<string, number>[] = []
    for (let step = 0; step < steps; step++) seen.push(await lab.learn(pairs))
    expect(seen.at(-1)!['actor/dpo_loss']).toBeLessThan(seen[0]['actor/dpo_loss'] / 3)
    expect(seen.at(-1)!['actor/accuracy_mean']).toBe(1)
    expect(seen.at(-1)!['actor/chosen_reward']).toBeGreaterThan(seen.at(-1)!['actor/rejected_reward'] + 1)
  })
})
