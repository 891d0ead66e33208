import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { expectEqual, type Play, type Played } from './oracle.fixture.js'

const golden: { plays: Play[]; played: Played[] } = JSON.parse(
  readFileSync(new URL('./golden-gym-sokoban.json', import.meta.url), 'utf8'),
)

describe('gym-sokoban 0.0.6', () => {
  it('gives the same rewards and ends for the same rooms and moves, and leaves the same rooms', () => {
    expect(golden.plays.length).toBeGreaterThanOrEqual(50)
    expectEqual(golden.plays, golden.played)
    const solved = golden.played.filter(([steps]) => steps.at(-1)![1])
    expect(solved.length).toBeGreaterThan(10)
    const rewards = new Set(golden.played.flatMap(([steps]) => steps.map(([reward]) => reward)))
    expect([...rewards].sort((a, b) => a - b)).toEqual([-1.1, -0.1, 0.9, 10.9])
  })
})
