import { execFileSync } from 'node:child_process'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { testPython } from '../../../test/support/python.js'
import { Pcg64 } from './pcg64.js'

const range = (size: number) => Array.from({ length: size }, (_, i) => i)
const python = testPython('numpy')

describe.skipIf(python.absent)(`Pcg64 against an installed NumPy${python.note}`, () => {
  it('agrees on random seeds and sizes', () => {
    const cases = fc.sample(fc.record({ seed: fc.nat(), size: fc.integer({ min: 1, max: 12000 }), pick: fc.nat() }), {
      numRuns: 40,
      seed: 1,
    })
    const inputs = cases.map(({ seed, size, pick }) => ({ seed, size, count: pick % (size + 1) }))
    const script = `
import json, sys, numpy as np
out = []
for c in json.load(sys.stdin):
    l = list(range(c['size'])); np.random.default_rng(c['seed']).shuffle(l)
    out.append([l, np.random.default_rng(c['seed']).permutation(c['size']).tolist(),
                np.random.default_rng(c['seed']).choice(c['size'], c['count'], replace=False).tolist()])
json.dump(out, sys.stdout)`
    const answer = execFileSync(python.path, ['-c', script], { input: JSON.stringify(inputs), maxBuffer: 1 << 28 })
    const expected: number[][][] = JSON.parse(answer.toString())
    for (const [i, { seed, size, count }] of inputs.entries()) {
      const list = range(size)
      new Pcg64(seed).shuffle(list)
      const ours = [list, [...new Pcg64(seed).permutation(size)], [...new Pcg64(seed).choice(size, count)]]
      expect(JSON.stringify(ours) === JSON.stringify(expected[i]), `seed ${seed} size ${size} count ${count}`).toBe(
        true,
      )
    }
  })
})
