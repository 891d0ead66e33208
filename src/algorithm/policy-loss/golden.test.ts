import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { publishedBatch } from '../../../test/algorithm/batch.js'
import { evaluateLoss } from '../../graph/index.js'
import type { AggMode } from '../entry.js'
import { buildLoss } from '../loss.js'

interface Golden {
  name: string
  args: Record<string, number>
  mode: AggMode
  loss: number
  grad: number[]
  metrics: Record<string, number>
}

/**
 * What veRL 0.9.1's own functions give in float64 for the inputs of `publishedBatch`: loss, gradient by log-prob, metrics. Where
 * veRL draws tokens at random (clip_cov), it was given the order of the column `noise`.
 */
const golden = JSON.parse(readFileSync(new URL('golden-verl.json', import.meta.url), 'utf8')) as Golden[]

describe("veRL's numbers", () => {
  it.each(golden)('$name $args $mode', ({ name, args, mode, loss: value, grad, metrics }) => {
    const { rows, scores } = publishedBatch()
    const loss = buildLoss({ policy_loss_fn: name, policy_loss_fn_args: { ...args, loss_agg_mode: mode } })
    const got = evaluateLoss(loss, rows, loss.norms(rows), scores)
    expect(Math.abs(got.loss - value)).toBeLessThan(1e-8)
    const far = grad.map((g, i) => Math.abs(g - got.grads.logprob![i]))
    // gradients are handed out in float32
    expect(Math.max(...far)).toBeLessThan(1e-7)
    for (const [key, x] of Object.entries(metrics)) expect(Math.abs(got.metrics[key].value - x)).toBeLessThan(1e-8)
  })
})
