import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type ShapeName, shapeOf } from '../../../test/support/model-shapes.js'
import {
  ALIGN,
  BUCKET,
  CHUNK,
  COMPILED_FROM,
  type PlannedModel,
  parameters,
  SLOTS,
  scoringOf,
  standingOf,
  total,
  trainingOf,
} from './memory-model.js'
import { MAX_BATCH, PREFILL } from './memory-plan.js'

const GB = 1e9

function policy(shape: ShapeName, given: Partial<PlannedModel> = {}, checkpointing = false): PlannedModel {
  const trains = { checkpointing, bundles: false }
  return {
    name: 'policy',
    config: shapeOf(shape),
    head: 'lm',
    options: {},
    trains,
    tokens: 8192,
    longest: 2048,
    ...given,
  }
}

const lora = { rank: 16, alpha: 32, targetModules: 'all-linear' as const }

describe('memory of a model on the torch engine', () => {
  // torch.cuda.max_memory_allocated on an H200: bench/torch/train.py, micro-batches of 8,192 tokens, rows of up to 2,048
  it.each([
    ['0.5b', {}, false, 21.7],
    ['1.5b', {}, false, 49.8],
    ['7b', { optimizerOffload: true }, false, 88.3],
    ['7b', { optimizerOffload: true }, true, 51.5],
  ] as const)(
    '%s %o, checkpointing %s: a little more than the measured %s GB',
    (shape, options, checkpointing, peak) => {
      const model = policy(shape, { options }, checkpointing)
      const found = (total(standingOf(model, 1)) + total(trainingOf(model, 1))) / GB
      expect(found / peak).toBeGreaterThanOrEqual(1)
      expect(found / peak).toBeLessThan(1.15)
    },
  )

  it('has the constants of the workers', () => {
    const read = (file: string) => readFileSync(resolve('python/trinity_torch', file), 'utf8')
    expect(read('network/head.py')).toContain(`CHUNK = 2**${Math.log2(CHUNK)}`)
    expect(read('train/offload.py')).toContain(`BUCKET = 2**${Math.log2(BUCKET)}\nSLOTS = ${SLOTS}`)
    expect(read('train/model.py')).toContain(`COMPILED_FROM = 10**${Math.log10(COMPILED_FROM)}`)
    expect(read('network/rows.py')).toContain(`ALIGN = ${ALIGN}`)
    expect(read('sampler/engine.py')).toContain(`MAX_BATCH = {"cuda": ${MAX_BATCH}`)
    expect(read('sampler/scheduler.py')).toContain(`\nPREFILL = ${PREFILL}\n`)
  })

  it('of a trained parameter is 18 bytes, and 6 with its optimizer in main memory', () => {
    const count = parameters(policy('1.5b')).trained
    expect(count).toBe(1_543_714_304)
    expect(total(standingOf(policy('1.5b'), 1))).toBe(18 * count)
    expect(total(standingOf(policy('1.5b', { options: { optimizerOffload: true } }), 1))).toBe(6 * count)
    // float32 weights are their own masters
    expect(total(standingOf(policy('1.5b', { options: { dtype: 'float32' } }), 1))).toBe(16 * count)
  })

  it('weights in main memory come for the length of a call', () => {
    const away = policy('1.5b', { options: { paramOffload: true } })
    const { trained } = parameters(away)
    expect(total(standingOf(away, 1))).toBe(16 * trained)
    expect(total(trainingOf(away, 1)) - total(trainingOf(policy('1.5b'), 1))).toBeCloseTo(2 * trained, -3)
    const reference = { ...away, trains: undefined }
    expect(standingOf(reference, 1)).toEqual([])
    expect(scoringOf(reference, 1)).toBeGreaterThan(2 * trained)
  })

  it('of an adapter is little beside its frozen weights', () => {
    const adapted = policy('7b', { trains: { lora, checkpointing: true, bundles: false } })
    const { trained, frozen } = parameters(adapted)
    // 16 · (in + out) of seven modules in 28 layers
    expect(trained).toBe(16 * 28 * (2 * (3584 + 3584) + 2 * (3584 + 512) + 3 * (3584 + 18944)))
    expect(frozen).toBe(7_614_699_008)
    expect(total(standingOf(adapted, 1))).toBe(2 * frozen + 18 * trained)
    const few = policy('7b', {
      trains: { lora: { ...lora, targetModules: ['q_proj'] }, checkpointing: true, bundles: false },
    })
    expect(parameters(few).trained).toBe(16 * 28 * (3584 + 3584))
  })

  it('is divided among ranks, but for layers that are whole while they are computed', () => {
    const model = policy('7b')
    expect(total(standingOf(model, 4))).toBe((16 * parameters(model).trained) / 4)
    const whole = trainingOf(model, 4).find(({ what }) => what === 'whole layers')
    expect(whole!.bytes).toBeGreaterThan(2 * 2 * 2 * 151936 * 3584)
    expect(whole!.bytes).toBeLessThan(total(standingOf(model, 1)) / 4)
    expect(trainingOf(model, 1).some(({ what }) => what === 'whole layers')).toBe(false)
    expect(total(standingOf(policy('7b', { options: { paramOffload: true, optimizerOffload: true } }), 4))).toBe(0)
  })

  it('logits are those of a chunk, or of the longest row, or of what the loss couples', () => {
    const logits = (given: Partial<PlannedModel>) =>
      trainingOf(policy('0.5b', given), 1).find(({ what }) => what === 'logits')!.bytes
    const rows = (bytes: number) => Math.round(bytes / 1.1 / 6 / 151936)
    expect(rows(logits({}))).toBe(3533)
    expect(rows(logits({ longest: 6000 }))).toBe(6000)
    expect(rows(logits({ tokens: 32_768, longest: 32_768 }))).toBe(3533)
    expect(rows(logits({ tokens: 32_768, trains: { checkpointing: false, bundles: true } }))).toBe(4 * 3533)
    expect(rows(logits({ tokens: 1000, longest: 1000 }))).toBe(1024)
    expect(trainingOf(policy('0.5b', { head: 'value' }), 1).map(({ what }) => what)).toEqual([
      'activations of 8192 tokens',
    ])
  })

  it('layers that are not compiled keep more', () => {
    const eager = total(trainingOf(policy('0.5b', { options: { compile: false } }), 1))
    expect(eager).toBeGreaterThan(1.3 * total(trainingOf(policy('0.5b'), 1)))
  })
})
