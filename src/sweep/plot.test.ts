import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { groupOf, plotRuns } from './plot.js'

function folder(rewards: readonly number[]): string {
  const dir = mkdtempSync(join(tmpdir(), 'plot-'))
  mkdirSync(join(dir, 'monitor'))
  const row = (y: number, step: number) =>
    `${JSON.stringify({ step, time: step, metrics: { 'rollout/reward/mean': y } })}\n`
  writeFileSync(join(dir, 'monitor', 'explorer.jsonl'), rewards.map(row).join(''))
  return dir
}

describe('a plot of several runs', () => {
  it('averages the runs of a group and tells groups apart', () => {
    const two = [folder([0, 0.2]), folder([0.2, 0.8])]
    const plot = plotRuns([groupOf(`A=${two.join(',')}`), groupOf(folder([0.1, 0.3]))], undefined, 'steps')
    expect(plot.metric).toBe('rollout/reward/mean')
    // (0.2 + 0.8) / 2, and the sample deviation of the two
    expect(plot.table).toContain('0.500 ± 0.424')
    expect(plot.svg.match(/<polyline/g)).toHaveLength(2)
    expect(plot.svg).toContain('>A</text>')
  })

  it('says what is missing: the run, or the number', () => {
    const none = tmpdir()
    expect(() => plotRuns([groupOf(none)], undefined, 'steps')).toThrow(/there is no run in/)
    const some = [groupOf(folder([1]))]
    expect(() => plotRuns(some, 'rollout/reward/man', 'steps')).toThrow(
      expect.objectContaining({ hint: 'did you mean rollout/reward/mean?' }),
    )
  })
})
