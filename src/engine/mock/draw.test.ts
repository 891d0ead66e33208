import { describe, expect, it } from 'vitest'
import { checkDraw } from '../draw-spec.js'
import { draw } from './draw.js'

const LOGITS = Float64Array.of(1, -1, 0.5, 0)
const place = { prompt: Int32Array.of(0), made: [2, 2, 1], excluded: () => false, u: 0 }

/** The share of u in [0, 1) that gives each token. */
function shares(params: object, excluded: (token: number) => boolean = () => false): number[] {
  const spec = checkDraw({ temperature: 1, maxTokens: 1, ...params }, 4)
  const counts = [0, 0, 0, 0]
  const steps = 20_000
  for (let i = 0; i < steps; i++) counts[draw(LOGITS, spec, { ...place, excluded, u: (i + 0.5) / steps })]++
  return counts.map((count) => count / steps)
}

function softmax(logits: number[]): number[] {
  const all = logits.map(Math.exp)
  const sum = all.reduce((a, b) => a + b)
  return all.map((x) => x / sum)
}

describe('a draw of the mock', () => {
  it.each([
    ['nothing', {}, [1, -1, 0.5, 0]],
    ['temperature', { temperature: 0.5 }, [2, -2, 1, 0]],
    ['bias', { logitBias: { 1: 3, 0: -1 } }, [0, 2, 0.5, 0]],
    ['presence', { presencePenalty: 0.5 }, [1, -1.5, 0, 0]],
    ['frequency', { frequencyPenalty: 0.5 }, [1, -1.5, -0.5, 0]],
    ['repetition', { repetitionPenalty: 2 }, [0.5, -2, 0.25, 0]],
    [
      'all, bias first and temperature last',
      { logitBias: { 0: -3 }, repetitionPenalty: 2, frequencyPenalty: 0.5, presencePenalty: -1, temperature: 2 },
      [-4 / 2, (-2 - 0.5 + 1) / 2, (0.25 - 1 + 1) / 2, 0],
    ],
  ])('is shaped by %s', (_, params, logits) => {
    for (const [token, share] of shares(params).entries()) expect(share).toBeCloseTo(softmax(logits)[token], 3)
  })

  it('leaves out what is out of reach', () => {
    expect(shares({}, (token) => token !== 3)).toEqual([0, 0, 0, 1])
    expect(draw(LOGITS, checkDraw({ temperature: 1, maxTokens: 1 }, 4), { ...place, excluded: () => true })).toBe(-1)
    expect(draw(LOGITS, checkDraw({ temperature: 0, maxTokens: 1 }, 4), place)).toBe(0)
  })
})
