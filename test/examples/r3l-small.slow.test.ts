import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { trinity } from '../run/cli-kit.js'
import { root } from './kit.js'

const out = mkdtempSync(join(tmpdir(), 'trinity-r3l-small-'))
afterAll(() => rmSync(out, { recursive: true, force: true }))

describe('the small twin of the study on CountDown', { timeout: 900_000 }, () => {
  beforeAll(() => {
    execFileSync(process.execPath, [join(root, 'examples/R3L/small/countdown/make.mjs')], { cwd: root })
  }, 900_000)

  it('compares the five algorithms at equal budgets; what R3L writes about its failures is of use', async () => {
    const short = ['--set', 'buffer.total_tokens=20000', '--seeds', '1', '--parallel', 'auto']
    const file = 'examples/R3L/small/countdown/sweep.yaml'
    const ended = await trinity(root, ['sweep', file, ...short], undefined, { TRINITY_CHECKPOINT_ROOT_DIR: out })
    expect(ended).toMatchObject({ code: 0, stderr: '' })
    const { arms, budget } = JSON.parse(readFileSync(join(out, 'r3l_countdown/results.json'), 'utf8'))
    expect(arms).toHaveLength(5)
    expect(budget).toBeGreaterThanOrEqual(20_000)
    for (const { atBudget, first } of arms) expect(atBudget.mean).toBeGreaterThan(first.mean - 0.1)
    const lines = readFileSync(join(out, 'r3l_countdown/R3L-seed_1/monitor/explorer.jsonl'), 'utf8').trim().split('\n')
    const rows = lines.map((line) => JSON.parse(line).metrics)
    const mean = (name: string) => {
      const values = rows.flatMap((row) => row[name] ?? [])
      return values.reduce((sum, value) => sum + value, 0) / values.length
    }
    expect(mean('rollout/reflection_unusable/mean')).toBeLessThan(0.3)
    expect(mean('rollout/second_success/mean')).toBeGreaterThan(0.3)
  })
})
