import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { PrefixTree, type Segment } from './prefix-tree.js'

/** Every way from a root to where nothing follows. */
function ways({ tokens, children }: Segment): number[][] {
  if (children.size === 0) return [[...tokens]]
  return [...children.values()].flatMap((child) => ways(child).map((way) => [...tokens, ...way]))
}

function segments({ tokens, children }: Segment): number[][] {
  return [[...tokens], ...[...children.values()].flatMap(segments)]
}

const of = (text: string) => Int32Array.from(text, (letter) => letter.charCodeAt(0))
const text = (parts: number[][]) => parts.map((part) => String.fromCharCode(...part))

describe('sequences as trees', () => {
  it('branch where they part, and only there', () => {
    const tree = new PrefixTree()
    for (const one of ['look', 'look around', 'look at', 'look at it', 'take', 'look a', 'look']) tree.add(of(one))
    expect(tree.roots.map(segments).map(text)).toEqual([['look a', 'round', 't it'], ['take']])
    expect(tree.size).toBe(19)
  })

  it('do not join for a few tokens of many', () => {
    const tree = new PrefixTree()
    for (const letter of ['a', 'b', 'c']) tree.add(of(`<s>${letter.repeat(100)}`))
    expect(tree.roots).toHaveLength(3)
    tree.add(of(`<s>${'b'.repeat(50)}x`))
    expect(text(segments(tree.roots[1]))).toEqual([`<s>${'b'.repeat(50)}`, 'b'.repeat(50), 'x'])
  })

  it('hold every sequence, each token of a tree once', () => {
    const sequence = fc.array(fc.integer({ min: 0, max: 2 }), { minLength: 1, maxLength: 12 })
    fc.assert(
      fc.property(fc.array(sequence, { minLength: 1, maxLength: 12 }), (all) => {
        const tree = new PrefixTree()
        const roots = all.map((one) => tree.add(Int32Array.from(one)))
        for (const [i, one] of all.entries()) {
          expect(ways(roots[i]).some((way) => one.every((token, at) => token === way[at]))).toBe(true)
        }
        // As short as these are, all that begin with the same token are one tree: its tokens are their different prefixes.
        const prefixes = new Set(all.flatMap((one) => one.map((_, i) => one.slice(0, i + 1).join())))
        expect(tree.size).toBe(prefixes.size)
        expect(tree.roots.flatMap(segments).flat()).toHaveLength(prefixes.size)
      }),
    )
  })
})
