import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { TrinityError } from '../base/error.js'
import {
  defineLoss,
  type Expr,
  graphHash,
  type LossTrace,
  parseGraph,
  serializeGraph,
  Trace,
  validateGraph,
} from './index.js'
import { lossProgram } from './program.js'

const formula = (g: LossTrace) => {
  const x = g.logprob.sub(g.column('old')).exp()
  g.metric('ratio', x)
  return x.mul(g.column('advantage')).neg().total().div(g.norm('tokens'))
}

describe('trace', () => {
  it('writes equal parts once and leaves out what nothing needs', () => {
    const { graph } = defineLoss((g) => {
      g.logprob.exp().sqrt()
      return g.logprob
        .sub(g.column('old'))
        .mul(g.logprob.sub(g.column('old')))
        .total()
    })
    expect(graph.nodes.map((node) => node.op)).toEqual(['score', 'column', 'sub', 'mul', 'total'])
  })

  it('gives the same graph, text and hash for the same formula', () => {
    const [a, b] = [defineLoss(formula).graph, defineLoss(formula).graph]
    expect(serializeGraph(a)).toBe(serializeGraph(b))
    expect(graphHash(a)).toBe(graphHash(b))
    expect(graphHash(a)).not.toBe(graphHash(defineLoss((g) => formula(g).mul(2)).graph))
  })

  it('computes constants at once', () => {
    const { graph } = defineLoss((g) => g.logprob.total().mul(g.constant(2).mul(3)).add(0).div(1))
    expect(graph.nodes.map((node) => node.op)).toEqual(['score', 'total', 'const', 'mul'])
  })

  const mistakes: [string, (g: LossTrace) => Expr, RegExp][] = [
    ['token with row', (g) => g.logprob.add(g.logprob.rowSum()).total(), /mixes token and row/],
    ['number as truth', (g) => g.logprob.where(1, 0).total(), /must be a truth value/],
    ['truth as number', (g) => g.logprob.gt(0).add(1).total(), /must be a number/],
    ['truth summed', (g) => g.logprob.gt(0).total(), /needs numbers/],
    ['loss of tokens', (g) => g.logprob, /one number/],
    ['computed bound', (g) => g.logprob.clamp(0, g.entropy.total()).total(), /bounds of 'clamp'/],
    ['row sum of a row', (g) => g.logprob.rowSum().rowSum().total(), /takes a token value/],
    ['infinite constant', (g) => g.logprob.add(Number.POSITIVE_INFINITY).total(), /cannot be used/],
    ['normalizer twice', (g) => g.norm('n', () => 1).add(g.norm('n', () => 2)), /already a normalizer/],
    [
      'metric twice',
      (g) => {
        g.metric('x', 1)
        g.metric('x', 2)
        return g.logprob.total()
      },
      /already a metric/,
    ],
    ['foreign expression', (g) => g.logprob.add(new Trace().logprob).total(), /another trace/],
  ]
  it.each(mistakes)('refuses at once: %s', (_, wrong, message) => {
    expect(() => defineLoss(wrong)).toThrowError(message)
  })
})

describe('coupling', () => {
  it.each([
    ['row', (g: LossTrace) => g.logprob.total().div(g.norm('n')).add(g.entropy.rowMean().total().mul(2))],
    ['bundle', (g: LossTrace) => g.logprob.rowSum().bundleSum().logSigmoid().total()],
    ['batch', (g: LossTrace) => g.logprob.total().square()],
    ['batch', (g: LossTrace) => g.logprob.sub(g.logprob.total()).total()],
    ['batch', (g: LossTrace) => g.logprob.total().add(1)],
  ] as const)('%s', (expected, formulaOf) => {
    expect(defineLoss(formulaOf).coupling).toBe(expected)
  })
})

describe('serialized graphs', () => {
  it('come back as they were', () => {
    const { graph } = defineLoss(formula)
    const back = parseGraph(serializeGraph(graph))
    expect(serializeGraph(back)).toBe(serializeGraph(graph))
    expect(lossProgram(back)).toBe(lossProgram(graph))
  })

  const good = () => JSON.parse(serializeGraph(defineLoss(formula).graph))
  const spoilers: [string, (graph: ReturnType<typeof good>) => unknown, string][] = [
    ['version', (graph) => Object.assign(graph, { version: 2 }), 'version'],
    ['unknown operation', (graph) => Object.assign(graph.nodes[2], { op: 'subb' }), 'nodes[2].op'],
    ['operation of the compiler', (graph) => Object.assign(graph.nodes[2], { op: 'gmul' }), 'nodes[2].op'],
    ['inherited name', (graph) => Object.assign(graph.nodes[2], { op: 'constructor' }), 'nodes[2].op'],
    ['forward reference', (graph) => Object.assign(graph.nodes[2], { in: [0, 2] }), 'nodes[2].in[1]'],
    ['wrong arity', (graph) => Object.assign(graph.nodes[2], { in: [0] }), 'nodes[2]'],
    ['unknown key', (graph) => Object.assign(graph.nodes[2], { code: 'x' }), 'nodes[2].code'],
    ['no name', (graph) => void delete graph.nodes[1].name, 'nodes[1].name'],
    ['bad shape', (graph) => Object.assign(graph.nodes[1], { shape: 'scalar' }), 'nodes[1].shape'],
    ['bad score', (graph) => Object.assign(graph.nodes[0], { name: 'logits' }), 'nodes[0].name'],
    ['loss out of range', (graph) => Object.assign(graph, { loss: 99 }), 'loss'],
    ['loss of tokens', (graph) => Object.assign(graph, { loss: 0 }), 'loss'],
    ['metric twice', (graph) => void graph.metrics.push(graph.metrics[0]), 'metrics[1].name'],
    ['bad reduction', (graph) => Object.assign(graph.metrics[0], { reduce: 'median' }), 'metrics[0].reduce'],
  ]
  it.each(spoilers)('refuse: %s', (_, spoil, path) => {
    const graph = good()
    spoil(graph)
    expect(() => validateGraph(graph)).toThrowError(expect.objectContaining({ path }))
  })

  it('cannot smuggle code into the compiler', () => {
    const evil = { version: 1, nodes: [{ op: 'const', value: 'globalThis.pwned = 1' }], loss: 0, metrics: [] }
    expect(() => lossProgram(evil as never)).toThrowError(expect.objectContaining({ path: 'nodes[0].value' }))
    expect('pwned' in globalThis).toBe(false)
  })

  it('may be long, but not without bounds', () => {
    const chain = (length: number, op: string) => {
      const nodes: object[] = [{ op: 'score', name: 'logprob' }]
      for (let i = 0; i < length; i++)
        nodes.push(
          ...(op === 'rowSum'
            ? [
                { op, in: [nodes.length - 1] },
                { op: 'toTokens', in: [nodes.length] },
              ]
            : [{ op, in: [i] }]),
        )
      nodes.push({ op: 'total', in: [nodes.length - 1] })
      return { version: 1, nodes, loss: nodes.length - 1, metrics: [] }
    }
    expect(() => lossProgram(validateGraph(chain(1900, 'sigmoid')))).not.toThrow()
    expect(() => lossProgram(validateGraph(chain(15, 'rowSum')))).not.toThrow()
    expect(() => validateGraph(chain(2000, 'sigmoid'))).toThrowError(/at most 2000/)
    expect(() => validateGraph(chain(16, 'rowSum'))).toThrowError(/sums within sums/)
  })

  it('any text gives a graph or a typed error', () => {
    const text = serializeGraph(defineLoss(formula).graph)
    fc.assert(
      fc.property(fc.nat(text.length), fc.nat(12), fc.string({ maxLength: 4 }), (at, cut, insert) => {
        try {
          parseGraph(text.slice(0, at) + insert + text.slice(at + cut))
        } catch (error) {
          expect(error).toBeInstanceOf(TrinityError)
        }
      }),
    )
  })
})
