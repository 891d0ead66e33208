import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { naiveLoss } from '../../test/algorithm/naive.js'
import { defineLoss, type Expr, evaluateLoss, evaluateTokens, type LossRow, type LossTrace, Trace } from './index.js'

const ROWS = 3
const WIDTH = 4

/** Three rows, two of them in one bundle, some tokens masked (and holding NaN), one row with a single active token. */
function batch(seed = 1) {
  let state = seed
  const random = () => {
    state = (state * 16807) % 2147483647
    return state / 2147483647
  }
  const masks = [Uint8Array.of(1, 0, 1, 1), Uint8Array.of(0, 0, 0, 1), Uint8Array.of(1, 1, 1, 1)]
  const draw = (mask: Uint8Array) => Float32Array.from(mask, (m) => (m ? 2 * random() - 1 : Number.NaN))
  const rows: LossRow[] = masks.map((mask, r) => ({
    mask,
    bundle: r < 2 ? 'pair' : undefined,
    group: r === 1 ? undefined : 'task',
    columns: { a: draw(mask), b: draw(mask), side: r === 0 ? 1 : 0.25 },
  }))
  const flat = () => {
    const all = new Float32Array(ROWS * WIDTH)
    masks.forEach((mask, r) => void all.set(draw(mask), r * WIDTH))
    return all
  }
  return { rows, scores: { logprob: flat(), entropy: flat(), value: flat() } }
}

const norms = { n: 2.5 }

/** d(loss)/d(score) by central differences of the naive evaluator, which works in float64. */
function finiteDifferences(loss: ReturnType<typeof defineLoss>, kind: string) {
  const { rows, scores } = batch()
  const wide = Object.fromEntries(Object.entries(scores).map(([k, v]) => [k, Float64Array.from(v)]))
  const frozen = naiveLoss(loss.graph, rows, norms, wide as never)
  const at = (shift: number, i: number) => {
    const moved = { ...wide, [kind]: wide[kind].map((x, k) => (k === i ? x + shift : x)) }
    return naiveLoss(loss.graph, rows, norms, moved as never, frozen)(loss.graph.loss)
  }
  return rows.flatMap((row, r) =>
    [...row.mask].map((m, i) => (m ? (at(1e-5, r * WIDTH + i) - at(-1e-5, r * WIDTH + i)) / 2e-5 : 0)),
  )
}

const positive = (x: Expr) => x.square().add(0.1)
const ops: Record<string, (g: LossTrace) => Expr> = {
  add: (g) => g.logprob.add(g.column('a')),
  sub: (g) => g.column('a').sub(g.logprob),
  mul: (g) => g.logprob.mul(g.entropy),
  div: (g) => g.logprob.div(positive(g.entropy)),
  neg: (g) => g.logprob.neg().mul(g.column('a')),
  exp: (g) => g.logprob.exp(),
  log: (g) => positive(g.logprob).log(),
  abs: (g) => g.logprob.abs(),
  sqrt: (g) => positive(g.logprob).sqrt(),
  sign: (g) => g.logprob.sign().mul(g.logprob.add(g.entropy)),
  pow: (g) => positive(g.logprob).pow(1.5).mul(g.column('a')),
  'pow of what may be negative': (g) => g.logprob.pow(3),
  'pow 0': (g) => g.logprob.sub(g.logprob).pow(0).mul(g.logprob),
  sigmoid: (g) => g.logprob.mul(3).sigmoid(),
  logSigmoid: (g) => g.logprob.mul(3).logSigmoid(),
  logAddExp: (g) => g.logprob.logAddExp(g.entropy.mul(2)),
  min: (g) => g.logprob.min(g.entropy),
  max: (g) => g.logprob.max(g.column('a')),
  clamp: (g) => g.logprob.clamp(-0.4, 0.3).mul(g.column('b')),
  'clamp by a normalizer': (g) => g.logprob.clamp(-0.1, g.norm('n')),
  where: (g) => g.logprob.gt(0).where(g.logprob.exp(), g.entropy.square()),
  comparisons: (g) =>
    g.logprob
      .lt(0.1)
      .and(g.entropy.ge(-0.5))
      .or(g.value.le(0).and(g.value.eq(0).not()))
      .where(g.logprob.square(), g.value),
  detach: (g) => g.logprob.exp().detach().mul(g.logprob),
  rowSum: (g) => g.logprob.rowSum().square().toTokens(),
  rowMean: (g) => g.logprob.mul(g.column('a')).rowMean().exp().toTokens().mul(g.entropy),
  rowMax: (g) => g.logprob.rowMax().square().toTokens().mul(g.entropy),
  'rowMax of a sum': (g) => g.logprob.sub(g.logprob.rowMean().toTokens()).abs().rowMax().exp().toTokens(),
  'sum under a rowMax': (g) => g.logprob.rowMax().toTokens().sub(g.logprob).exp().rowSum().log().toTokens(),
  count: (g) => g.logprob.div(g.count().toTokens()),
  'row column': (g) => g.rowColumn('side').toTokens().mul(g.logprob),
  'truth to tokens': (g) => g.rowColumn('side').eq(1).toTokens().where(g.logprob.square(), g.logprob),
  bundleSum: (g) => g.logprob.rowSum().mul(g.rowColumn('side')).bundleSum().square().toTokens().mul(g.entropy),
  groupSum: (g) => g.logprob.rowSum().mul(g.rowColumn('side')).groupSum().square().toTokens().mul(g.entropy),
  groupMean: (g) => g.logprob.rowMean().groupMean().exp().toTokens().mul(g.entropy),
  groupMax: (g) => g.logprob.rowMean().groupMax().square().toTokens().mul(g.entropy),
  rank: (g) => g.logprob.rank().mul(g.logprob).mul(g.entropy),
  'rank of rows': (g) => g.logprob.rowSum().rank().add(1).toTokens().mul(g.logprob),
  cumSum: (g) => g.logprob.cumSum().square().mul(g.column('a')),
  'cumSum by another key': (g) => g.logprob.exp().cumSum(g.column('b')).square(),
  'cumSum of rows': (g) => g.logprob.rowMean().cumSum(g.entropy.rowSum()).square().toTokens(),
  'order within an order': (g) => g.logprob.cumSum(g.logprob.rank().mul(g.column('a'))).mul(g.entropy),
  'value score': (g) => g.value.sub(g.column('a')).square(),
  'sum of sums': (g) => g.logprob.sub(g.logprob.rowMean().toTokens()).square().rowSum().add(0.1).sqrt().toTokens(),
  'total inside': (g) => g.logprob.sub(g.logprob.total().div(g.norm('n'))).square(),
  'total of rows inside': (g) => g.logprob.mul(g.entropy.rowSum().square().total()),
}

describe('evaluateLoss', () => {
  it.each(Object.entries(ops))('%s: value as defined, gradient as finite differences', (_, formula) => {
    const loss = defineLoss((g) => {
      const x = formula(g)
      g.metric('mean', x)
      g.metric('weighted', x, { weight: g.column('a').abs() })
      g.metric('row', x.rowSum())
      g.metric('sum', x, { reduce: 'sum' })
      g.metric('max', x, { reduce: 'max' })
      g.metric('min', x.rowSum(), { reduce: 'min' })
      return x.total().div(g.norm('n'))
    })
    const { rows, scores } = batch()
    const got = evaluateLoss(loss, rows, norms, scores)
    const naive = naiveLoss(loss.graph, rows, norms, scores)
    expect(got.loss).toBeCloseTo(naive(loss.graph.loss), 10)
    for (const kind of loss.wants) {
      const expected = finiteDifferences(loss, kind)
      if (!got.grads[kind]) expect(expected.every((x) => Math.abs(x) < 1e-9)).toBe(true)
      else expected.forEach((x, i) => void expect(got.grads[kind]![i]).toBeCloseTo(x, 5))
    }
    const [token, , rowNode] = loss.graph.metrics.map((metric) => metric.value)
    const active = rows.flatMap((row, r) => [...row.mask].flatMap((m, i) => (m ? [{ r, i }] : [])))
    const all = active.map(({ r, i }) => naive(token, r, i))
    const weights = active.map(({ r, i }) => Math.abs((rows[r].columns.a as Float32Array)[i]))
    const sums = rows.map((_row, r) => naive(rowNode, r))
    const sum = (values: number[]) => values.reduce((a, b) => a + b, 0)
    expect(got.metrics.mean).toMatchObject({ value: expect.closeTo(sum(all) / 8, 8), weight: 8 })
    expect(got.metrics.weighted.value).toBeCloseTo(sum(all.map((x, i) => x * weights[i])) / sum(weights), 8)
    expect(got.metrics.row).toMatchObject({ value: expect.closeTo(sum(sums) / 3, 8), weight: 3 })
    expect(got.metrics.sum.value).toBeCloseTo(sum(all), 8)
    expect(got.metrics.max.value).toBeCloseTo(Math.max(...all), 10)
    expect(got.metrics.min.value).toBeCloseTo(Math.min(...sums), 8)
  })

  it('gives neither value nor gradient from an unselected branch, however wild', () => {
    const loss = defineLoss((g) => {
      const wild = g.logprob.mul(1e4).exp().div(g.logprob.sub(g.logprob)).log()
      return g.column('a').lt(100).where(g.logprob, wild).total()
    })
    const { rows, scores } = batch()
    const { loss: value, grads } = evaluateLoss(loss, rows, {}, scores)
    expect(Number.isFinite(value)).toBe(true)
    expect([...grads.logprob!]).toEqual([1, 0, 1, 1, 0, 0, 0, 1, 1, 1, 1, 1])
  })

  it('never reads what is masked: infinities there change nothing', () => {
    const loss = defineLoss((g) => g.logprob.sub(g.column('a')).exp().mul(g.logprob.rowMean().toTokens()).total())
    const [clean, dirty] = [batch(), batch()]
    dirty.rows.forEach((row, r) => {
      row.mask.forEach((m, i) => {
        if (m) return
        dirty.scores.logprob[r * WIDTH + i] = Number.POSITIVE_INFINITY
        ;(row.columns.a as Float32Array)[i] = Number.NEGATIVE_INFINITY
      })
    })
    expect(evaluateLoss(loss, dirty.rows, {}, dirty.scores)).toEqual(evaluateLoss(loss, clean.rows, {}, clean.scores))
  })

  it('rowMax: equal tokens share the gradient, an empty row has 0, a NaN shows', () => {
    const loss = defineLoss((g) => {
      g.metric('most', g.logprob.rowMax(), { reduce: 'sum' })
      return g.logprob.rowMax().mul(g.rowColumn('side')).total()
    })
    const row = (...mask: number[]): LossRow => ({ mask: Uint8Array.from(mask), columns: { side: 6 } })
    const rows = [row(1, 1, 1, 0), row(0, 0), row(1)]
    const at = (last: number) => evaluateLoss(loss, rows, {}, { logprob: Float32Array.of(-1, -2, -1, 9, 9, 9, last) })
    expect(at(-3)).toMatchObject({ loss: -24, metrics: { most: { value: -4 } } })
    expect([...at(-3).grads.logprob!]).toEqual([3, 0, 3, 0, 0, 0, 6])
    expect(at(Number.NaN).loss).toBeNaN()
  })

  it('orders all active tokens: from the greatest on, ties by place, sums from the least up', () => {
    const loss = defineLoss((g) => {
      const x = g.logprob
      g.metric('ranks', x.rank().mul(g.column('place')), { reduce: 'sum' })
      g.metric('sums', x.cumSum().mul(g.column('place')), { reduce: 'sum' })
      for (const q of [0, 0.25, 0.5, 0.9, 1]) g.metric(`quantile_${q}`, g.quantile(x, q))
      g.metric('row_median', g.quantile(x.rowSum(), 0.5))
      return x.total()
    })
    expect(loss.coupling).toBe('batch')
    const row = (mask: number[], place: number[]): LossRow => ({
      mask: Uint8Array.from(mask),
      columns: { place: Float32Array.from(place) },
    })
    // 3, 1 | (masked) 2, 1 | 5
    const rows = [row([1, 1], [1, 10]), row([0, 1, 1], [0, 100, 1000]), row([1], [10_000])]
    const logprob = Float32Array.of(3, 1, 99, 2, 1, 5)
    const { metrics } = evaluateLoss(loss, rows, loss.norms(rows), { logprob })
    expect(metrics.ranks.value).toBe(1 + 30 + 200 + 4000)
    expect(metrics.sums.value).toBe(7 + 20 + 400 + 1000 + 120_000)
    const at = (q: number) => metrics[`quantile_${q}`].value
    // as numpy.quantile([3, 1, 2, 1, 5], q)
    expect([0, 0.25, 0.5, 0.9, 1].map(at)).toEqual([1, 1, 2, expect.closeTo(4.2, 12), 5])
    expect(metrics.row_median.value).toBe(4)
  })

  it('groups are the rows of one task; one without a task is a group by itself', () => {
    const loss = defineLoss((g) => {
      for (const [name, value] of Object.entries({
        sum: g.rowColumn('x').groupSum(),
        mean: g.rowColumn('x').groupMean(),
        max: g.rowColumn('x').groupMax(),
      }))
        g.metric(name, value.mul(g.rowColumn('place')), { reduce: 'sum' })
      return g.logprob.total()
    })
    expect(loss.coupling).toBe('batch')
    const row = (x: number, place: number, group?: string): LossRow => ({
      mask: Uint8Array.of(1),
      group,
      columns: { x, place },
    })
    const rows = [row(1, 1, 'a'), row(5, 10), row(4, 100, 'a'), row(-2, 1000)]
    const { metrics } = evaluateLoss(loss, rows, {}, { logprob: new Float32Array(4) })
    expect(metrics.sum.value).toBe(5 + 50 + 500 - 2000)
    expect(metrics.mean.value).toBe(2.5 + 50 + 250 - 2000)
    expect(metrics.max.value).toBe(4 + 50 + 400 - 2000)
  })

  it('lets a NaN that takes part show', () => {
    const loss = defineLoss((g) => g.logprob.max(0).min(1).total())
    const { rows, scores } = batch()
    scores.logprob[0] = Number.NaN
    expect(evaluateLoss(loss, rows, {}, scores).loss).toBeNaN()
  })

  it('defines empty rows and empty batches', () => {
    const loss = defineLoss((g) => {
      g.metric('mean', g.logprob)
      g.metric('max', g.logprob, { reduce: 'max' })
      return g.logprob.rowMean().total()
    })
    const empty: LossRow = { mask: new Uint8Array(2), columns: {} }
    const scores = { logprob: Float32Array.of(1, 2) }
    const got = evaluateLoss(loss, [empty], {}, scores)
    expect(got.loss).toBe(0)
    expect(got.metrics).toEqual({
      mean: { value: 0, weight: 0, reduce: 'mean' },
      max: { value: 0, weight: 0, reduce: 'max' },
    })
    expect(evaluateLoss(loss, [], {}, { logprob: new Float32Array() }).loss).toBe(0)
  })

  it('gives no gradient for a score the loss only reports', () => {
    const loss = defineLoss((g) => {
      g.metric('entropy', g.entropy)
      return g.logprob.total()
    })
    expect(loss.wants).toEqual(['logprob', 'entropy'])
    const { rows, scores } = batch()
    expect(Object.keys(evaluateLoss(loss, rows, {}, scores).grads)).toEqual(['logprob'])
  })

  it('agrees with the naive evaluator on random formulas', () => {
    const build = (g: LossTrace, tree: Tree): Expr => {
      if (typeof tree === 'number')
        return [g.logprob, g.entropy, g.column('a'), g.rowColumn('side').toTokens()][tree % 4]
      const [op, left, right] = tree
      const [x, y] = [build(g, left), build(g, right)]
      const table = [
        () => x.add(y), () => x.sub(y), () => x.mul(y), () => x.min(y), () => x.max(y), () => x.gt(y).where(x, y),
        () => x.clamp(-1, 1).exp(), () => x.sigmoid(), () => x.rowMean().toTokens().sub(y), () => x.detach().mul(y),
        () => x.rowSum().bundleSum().toTokens().add(y), () => x.logAddExp(y),
        () => x.sign().mul(y), () => x.abs().pow(1.5).sub(y), () => x.rowMax().toTokens().mul(y),
        () => x.rank().mul(y), () => x.cumSum(y), () => x.rowMean().groupMax().toTokens().add(y),
        () => x.rowMean().groupMean().toTokens().sub(y), () => x.rowSum().cumSum().toTokens().min(y),
      ] // biome-ignore format: a table
      return table[op % table.length]()
    }
    type Tree = number | [number, Tree, Tree]
    const { tree } = fc.letrec<{ tree: Tree }>((tie) => ({
      tree: fc.oneof({ maxDepth: 4 }, fc.nat(3), fc.tuple(fc.nat(19), tie('tree'), tie('tree'))),
    }))
    fc.assert(
      fc.property(tree, fc.integer({ min: 1, max: 1e6 }), (shape, seed) => {
        const loss = defineLoss((g) => build(g, shape).total().div(g.norm('n')))
        const { rows, scores } = batch(seed)
        const naive = naiveLoss(loss.graph, rows, norms, scores)(loss.graph.loss)
        const got = evaluateLoss(loss, rows, norms, scores).loss
        expect(Math.abs(got - naive)).toBeLessThanOrEqual(1e-9 * (1 + Math.abs(naive)))
      }),
      { numRuns: 200 },
    )
  })

  it.each([
    [
      'graph/missing-column',
      (b: ReturnType<typeof batch>) => void delete (b.rows[1].columns as Record<string, unknown>).a,
    ],
    ['graph/bad-column', (b: ReturnType<typeof batch>) => Object.assign(b.rows[1].columns, { a: new Float32Array(2) })],
    [
      'graph/bad-column',
      (b: ReturnType<typeof batch>) => Object.assign(b.rows[1].columns, { side: new Float32Array(4) }),
    ],
    ['graph/missing-score', (b: ReturnType<typeof batch>) => Object.assign(b.scores, { logprob: undefined })],
    ['graph/bad-score', (b: ReturnType<typeof batch>) => Object.assign(b.scores, { logprob: new Float32Array(3) })],
  ])('refuses wrong inputs: %s', (code, spoil) => {
    const loss = defineLoss((g) => g.logprob.mul(g.column('a')).mul(g.rowColumn('side').toTokens()).total())
    const given = batch()
    spoil(given)
    expect(() => evaluateLoss(loss, given.rows, {}, given.scores)).toThrowError(expect.objectContaining({ code }))
  })

  it('refuses a missing or infinite normalizer', () => {
    const loss = defineLoss((g) => g.logprob.total().div(g.norm('n')))
    const { rows, scores } = batch()
    const run = (given: Record<string, number>) => () => evaluateLoss(loss, rows, given, scores)
    expect(run({})).toThrowError(expect.objectContaining({ code: 'graph/missing-norm' }))
    expect(run({ n: Number.NaN })).toThrowError(expect.objectContaining({ code: 'graph/bad-norm' }))
  })
})

describe('evaluateTokens', () => {
  it('gives the values of a formula at the active tokens', () => {
    const g = new Trace()
    const formula = g.formula(g.logprob.sub(g.column('a')))
    const { rows, scores } = batch()
    const got = evaluateTokens(formula, rows, {}, scores)
    expect(got[0]).toBeCloseTo(scores.logprob[0] - (rows[0].columns.a as Float32Array)[0], 6)
    expect(got[1]).toBe(0)
  })
})
