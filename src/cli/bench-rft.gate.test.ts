import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const main = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))

/** Small enough for a processor. */
const SMALL = {
  'buffer.total_steps': 2,
  'buffer.batch_size': 2,
  'algorithm.repeat_times': 2,
  'explorer.eval_on_startup': false,
  'model.max_model_len': 4096,
  'model.max_prompt_tokens': 4000,
  'model.max_response_tokens': 8,
}
const WALK = 'buffer.explorer_input.taskset.workflow_args.agent_max_steps=2'

describe('bench-rft', () => {
  it('makes and runs two benchmarks, and plot draws them', { timeout: 120_000 }, () => {
    const cwd = mkdtempSync(join(tmpdir(), 'bench-rft-'))
    const trinity = (...words: string[]) => {
      const { status, stdout, stderr } = spawnSync(process.execPath, [main, ...words], { cwd, encoding: 'utf8' })
      // 3: two steps of a random model on FrozenLake earn no reward, so that its weights do not change
      expect(words[0] === 'bench-rft' ? [0, 3] : [0], stderr).toContain(status)
      return stdout
    }
    trinity('model', 'new', '--out', 'model', '--layers', '1', '--hidden', '32', '--max-positions', '4096')
    const set = Object.entries(SMALL).flatMap(([key, value]) => ['--set', `${key}=${value}`])
    const runs = { countdown: ['countdown'], frozenlake: ['frozen_lake', '--set', WALK] }
    const folders = Object.entries(runs).map(([name, [data, ...more]]) => {
      trinity('data', data, '--out', name, '--train', '4', '--test', '1')
      const paths = ['--model_path', 'model', '--taskset_path', name, '--out', `runs-${name}`]
      trinity('bench-rft', name, '--gpu_per_node', '0', '--sync_interval', '1', ...paths, ...set, ...more)
      const [made] = readdirSync(join(cwd, `runs-${name}`))
      const group = join(cwd, `runs-${name}`, made, 'checkpoints', 'Trinity-RFT', `${name}-bench`)
      return join(group, readdirSync(group)[0])
    })
    const words = trinity('plot', ...folders, '--key', 'rollout/reward/mean')
    expect(words).toMatch(/after 2(\.0+)? steps/)
    expect(readFileSync(join(cwd, 'chart.svg'), 'utf8').match(/<polyline/g)).toHaveLength(2)
  })
})
