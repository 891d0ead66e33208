import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { buildLoss, type LossConfig, policyLossFns } from '../../algorithm/index.js'
import { evaluateLoss, type TokenScores } from '../../graph/index.js'
import { createModel } from '../../model/create.js'
import type { Call, Loss, LossMetrics, Row } from '../contract.js'
import { mergeMetrics } from '../metrics.js'
import { packRows } from '../pack.js'
import { NativeEngine } from './engine.js'
import { packed } from './packed.js'
import { random } from './tiny.fixture.js'
import type { NativeTrainModel } from './train.js'

/** Groups of four answers; those of some groups have equal rewards. */
function groups(seed: number, equal: number): Row[] {
  const next = random(seed)
  return Array.from({ length: 16 }, (_, i) => {
    const start = 1 + Math.floor(next() * 4)
    const tokens = Int32Array.from({ length: start + 1 + Math.floor(next() * 8) }, () => Math.floor(next() * 20))
    const length = tokens.length - start
    const draw = () => Float32Array.from({ length }, () => -3 * next())
    const isEqual = i % 8 < equal
    const advantage = new Float32Array(length).fill(isEqual ? 0 : next() - 0.5)
    const mask = Uint8Array.from({ length }, (_, j) => (j > 0 && next() < 0.2 ? 0 : 1))
    const columns = {
      advantage,
      old: draw(),
      ref: draw(),
      noise: draw(),
      expert: 0,
      off_policy: i % 2,
      chosen: i % 2,
      step: 3,
    }
    return { id: `row ${i}`, bundle: `pair ${i >> 1}`, tokens, start, mask, temperature: 1, columns }
  })
}

describe('rows without a gradient are scored and not gone back through', () => {
  const engine = new NativeEngine()
  let dir: string
  let fast: NativeTrainModel
  let plain: NativeTrainModel
  let seq = 0
  const call = (): Call => ({ seq: ++seq, deadlineMs: 60_000 })

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'trinity-silent-'))
    const path = join(dir, 'model')
    await createModel({ out: path, arch: 'qwen3', hidden: 32, layers: 2, heads: 4, kvHeads: 2, headDim: 8, seed: 3 })
    fast = (await engine.openTrain({ path }, call())) as NativeTrainModel
    plain = (await engine.openTrain({ path }, call())) as NativeTrainModel
  })
  afterAll(async () => {
    await engine.close()
    await rm(dir, { recursive: true, force: true })
  })

  async function gradients({ addon, handle, params }: NativeTrainModel): Promise<Float32Array[]> {
    const all = []
    for (const { name } of params) all.push(await addon.read(handle, name, 'gradient'))
    return all
  }

  /** Every row forward and back, in the order of the batch. */
  async function everyRow(
    rows: Row[],
    tokenBudget: number,
    loss: Loss,
  ): Promise<{ loss: number; metrics: LossMetrics }> {
    const norms = loss.norms(rows)
    const results = []
    for (const pack of packRows(rows, tokenBudget, loss.coupling)) {
      const scores = await plain.addon.forward(plain.handle, packed(pack), true, true)
      const result = evaluateLoss(loss, pack, norms, scores as TokenScores)
      await plain.addon.backward(plain.handle, result.grads)
      results.push(result)
    }
    return {
      loss: results.reduce((sum, one) => sum + one.loss, 0),
      metrics: mergeMetrics(results.map((one) => one.metrics)),
    }
  }

  it('loss, metrics and gradient are those of the plain way, for every loss', async () => {
    const anyCase = fc.record({
      policy_loss_fn: fc.constantFrom(...policyLossFns.names()),
      kl_loss_fn: fc.constantFrom('none', 'none', 'k2'),
      entropy_loss_fn: fc.constant('default'),
      entropy_loss_fn_args: fc.constantFrom({ entropy_coef: 0 }, { entropy_coef: 0 }, { entropy_coef: 0.01 }),
    }) satisfies fc.Arbitrary<LossConfig>
    const backward = vi.spyOn(fast.addon, 'backward')
    let spared = 0
    await fc.assert(
      fc.asyncProperty(
        anyCase,
        fc.nat(1e6),
        fc.nat(8),
        fc.constantFrom(12, 60, 4000),
        async (config, seed, equal, budget) => {
          const rows = groups(seed, equal)
          const loss = buildLoss(config)
          await fast.discardGrad(call())
          await plain.discardGrad(call())
          const expected = await everyRow(rows, budget, loss)
          const before = backward.mock.calls.length
          const found = await fast.forwardBackward({ rows, tokenBudget: budget }, loss, call())
          spared += backward.mock.calls.length - before < packRows(rows, budget, loss.coupling).length ? 1 : 0
          expect(found.loss).toBeCloseTo(expected.loss, 6)
          for (const [name, { value }] of Object.entries(expected.metrics)) {
            expect(found.metrics[name].value, name).toBeCloseTo(value, 5)
          }
          const [own, all] = [await gradients(fast), await gradients(plain)]
          const whole = Math.hypot(...all.map((gradient) => Math.hypot(...gradient))) || 1
          own.forEach((gradient, p) => {
            // The attention of a new model is nearly even: what its queries and keys get is the rest of sums that cancel.
            const scale = Math.hypot(...all[p]) + 0.01 * whole
            expect(Math.hypot(...gradient.map((x, i) => x - all[p][i])) / scale).toBeLessThan(2e-5)
          })
        },
      ),
      { numRuns: 60 },
    )
    expect(spared).toBeGreaterThan(5)
  })

  it('a batch in which every group is equal changes nothing but by weight decay', async () => {
    const loss = buildLoss({ policy_loss_fn: 'ppo' })
    const rows = groups(5, 8)
    await fast.discardGrad(call())
    const { scores, metrics } = await fast.forwardBackward({ rows, tokenBudget: 50 }, loss, call())
    expect(scores.map(({ id }) => id)).toEqual(rows.map(({ id }) => id))
    expect(metrics.ppo_kl.weight).toBeGreaterThan(0)
    const adam = { lr: 0.1, betas: [0.9, 0.999] as const, eps: 1e-8, weightDecay: 0, gradClip: 1 }
    expect(await fast.optimStep(adam, call())).toEqual({ gradNorm: 0, applied: true })
  })
})
