import { spawnSync } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import {
  defineLoss,
  type Expr,
  evaluateLoss,
  type LossRow,
  type LossTrace,
  serializeGraph,
} from '../../src/graph/index.js'
import { randomBatch } from '../algorithm/batch.js'
import { testPython } from '../support/python.js'
import { evaluatedCases, fingerprint } from './cases.js'

const python = testPython('torch')
const golden = join(import.meta.dirname, 'golden-losses.json')

interface Numbers {
  loss: number
  grads: Record<string, number[]>
  metrics?: Record<string, number>
}

/** One branch overflows and divides by zero; the other is taken. */
function unselected() {
  const loss = defineLoss((g) => {
    const wild = g.logprob.mul(1e4).neg().exp().div(g.logprob.sub(g.logprob)).log()
    return g.column('advantage').lt(100).where(g.logprob.square(), wild).total()
  })
  return { loss, batch: randomBatch(77) }
}

/** Operations that no loss of this project uses, or only some. */
const OPERATIONS: Record<string, (g: LossTrace) => Expr> = {
  sign: (g) => g.logprob.add(1).sign().mul(g.logprob.add(g.entropy)),
  pow: (g) => g.logprob.abs().pow(1.5).add(g.logprob.pow(3)).add(g.entropy.pow(0)),
  rowMax: (g) => g.logprob.rowMax().square().toTokens().mul(g.entropy),
  'rowMax with ties': (g) => g.logprob.max(-0.5).rowMax().toTokens().mul(g.entropy),
  groupSum: (g) => g.logprob.rowSum().groupSum().square().toTokens().mul(g.entropy),
  groupMean: (g) => g.logprob.rowMean().sub(g.logprob.rowMean().groupMean()).square().toTokens().mul(g.entropy),
  groupMax: (g) => g.logprob.rowMean().groupMax().exp().toTokens().mul(g.entropy),
  'groupMax with ties': (g) => g.logprob.rowMax().max(-0.2).groupMax().toTokens().mul(g.entropy),
  rank: (g) => g.logprob.rank().mul(g.entropy),
  'rank with ties': (g) => g.logprob.max(-0.9).rank().mul(g.logprob),
  'rank of rows': (g) => g.logprob.rowMean().rank().toTokens().mul(g.logprob),
  cumSum: (g) => g.logprob.mul(g.entropy).cumSum(g.logprob).square(),
  'cumSum of rows': (g) => g.logprob.rowMean().exp().cumSum().toTokens().mul(g.entropy),
  'log-sum-exp of a row': (g) => {
    const most = g.logprob.rowMax()
    return g.logprob.sub(most.toTokens()).exp().rowSum().log().add(most).toTokens()
  },
}
const operations = () =>
  Object.values(OPERATIONS).map((formula, k) => ({
    loss: defineLoss((g) => {
      g.metric('mean', formula(g))
      return formula(g).total()
    }),
    batch: randomBatch(500 + k),
  }))

const furthest = (a: ArrayLike<number>, b: ArrayLike<number>) =>
  Array.from(a, (x, i) => Math.abs(x - b[i])).reduce((far, d) => Math.max(far, d), 0)

describe.skipIf(python.absent)(`losses against PyTorch autograd${python.note}`, () => {
  let answers: { graph: Numbers; formula: Numbers }[] = []
  const ours = evaluatedCases()

  beforeAll(() => {
    const plain = (row: LossRow) => ({
      mask: [...row.mask],
      bundle: row.bundle,
      group: row.group,
      columns: Object.fromEntries(Object.entries(row.columns).map(([k, v]) => [k, typeof v === 'number' ? v : [...v]])),
    })
    const more = [unselected(), ...operations()].map((one) => ({ ...one, formula: undefined, norms: {} }))
    const input = [...ours, ...more].map(({ formula, batch, loss, norms }) => ({
      formula,
      norms,
      graph: JSON.parse(serializeGraph(loss.graph)),
      rows: batch.rows.map(plain),
      scores: { logprob: [...batch.scores.logprob], entropy: [...batch.scores.entropy] },
    }))
    const run = spawnSync(python.path, [join(import.meta.dirname, 'compare.py')], {
      input: JSON.stringify(input),
      encoding: 'utf8',
      maxBuffer: 1 << 28,
      env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1' },
    })
    if (run.status !== 0) throw new Error(run.stderr)
    answers = JSON.parse(run.stdout)
  }, 120_000)

  it('the stored numbers are those of PyTorch', async () => {
    const fresh = ours.map(({ formula: { policy, args, mode, kl } }, k) => {
      const { loss, grads } = answers[k].formula
      return { policy, args, mode, kl, loss, logprob: fingerprint(grads.logprob), entropy: fingerprint(grads.entropy) }
    })
    if (process.env.UPDATE_GOLDEN) await writeFile(golden, `${JSON.stringify(fresh, null, 1)}\n`)
    const stored = JSON.parse(await readFile(golden, 'utf8')) as typeof fresh
    expect(stored.map(({ policy, args, mode, kl }) => [policy, args, mode, kl])).toEqual(
      fresh.map(({ policy, args, mode, kl }) => [policy, args, mode, kl]),
    )
    for (const key of ['loss', 'logprob', 'entropy'] as const) {
      expect(
        furthest(
          stored.map((one) => one[key]),
          fresh.map((one) => one[key]),
        ),
      ).toBeLessThan(1e-9)
    }
  })

  it('agrees that an unselected branch gives nothing, however wild', () => {
    const { loss, batch } = unselected()
    const got = evaluateLoss(loss, batch.rows, {}, batch.scores)
    const { graph } = answers[ours.length]
    expect(graph.loss).toBeCloseTo(got.loss, 9)
    expect(furthest(got.grads.logprob!, graph.grads.logprob)).toBeLessThan(1e-6)
  })

  it.each(Object.keys(OPERATIONS).map((name, k) => ({ name, k })))('operation: $name', ({ k }) => {
    const { loss, batch } = operations()[k]
    const got = evaluateLoss(loss, batch.rows, {}, batch.scores)
    const { graph } = answers[ours.length + 1 + k]
    expect(got.loss).toBeCloseTo(graph.loss, 9)
    expect(got.metrics.mean.value).toBeCloseTo(graph.metrics!.mean, 9)
    for (const kind of ['logprob', 'entropy'] as const) {
      const own = got.grads[kind] ?? new Float32Array(graph.grads[kind].length)
      expect(furthest(own, graph.grads[kind])).toBeLessThan(2e-6)
    }
  })

  it.each(ours.map(({ formula }, k) => ({ ...formula, k })))('$policy $args $mode + $kl', ({ k }) => {
    const { got } = ours[k]
    const { graph, formula } = answers[k]
    for (const theirs of [graph, formula]) {
      expect(got.loss).toBeCloseTo(theirs.loss, 9)
      expect(furthest(got.grads.logprob!, theirs.grads.logprob)).toBeLessThan(1e-6)
      expect(furthest(got.grads.entropy!, theirs.grads.entropy)).toBeLessThan(1e-6)
    }
    for (const [name, value] of Object.entries(graph.metrics!)) {
      expect([name, got.metrics[name].value]).toEqual([name, expect.closeTo(value, 9)])
    }
  })
})
