import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { trinity } from '../run/cli-kit.js'
import { Example, root } from './kit.js'

const example = new Example()
const dir = mkdtempSync(join(tmpdir(), 'trinity-agents-'))
/** Asks two things that do not go on from each other. */
const TWO = `import { agent } from 'trinity-rft'
export default agent('two', async ({ question }, { openai, model }) => {
  for (const content of [question, 'apple?'])
    await openai.chat.completions.create({ model, messages: [{ role: 'user', content }], max_tokens: 4 })
  return Math.random()
})`
const made = (...path: string[]) => join(root, 'examples/agents/made', ...path)
beforeAll(() => void execFileSync(process.execPath, [join(root, 'examples/agents/make.mjs')], { cwd: root }), 240_000)
afterAll(() => {
  example.close()
  rmSync(dir, { recursive: true, force: true })
})

describe('an agent that knows nothing of training', { timeout: 600_000 }, () => {
  it('learns to call its tools, over HTTP, by one command and without a configuration', async () => {
    const data = ['--data', made('tasks/train.jsonl'), '--eval', made('tasks/test.jsonl'), '--model', made('model')]
    const more = ['--lr', '8e-4', '--batch', '16', '--steps', '20', '--set', `checkpoint_root_dir=${example.out}`]
    const ended = await trinity(dir, ['train', join(root, 'examples/agents/plain/agent.ts'), ...data, ...more])
    expect(ended, ended.stderr).toMatchObject({ code: 0 })
    const rewards = example.series('agents/shop', 'explorer', 'eval/held-out/reward/mean@1')
    expect(rewards[0]).toBeLessThan(0.6)
    expect(rewards.at(-1)).toBeGreaterThan(rewards[0] + 0.2)
    const divergences = example.series('agents/shop', 'explorer', 'rollout/token_divergences/max')
    expect(divergences).toHaveLength(20)
    expect(Math.max(...divergences)).toBe(0)
  })

  it('may run elsewhere: what it says of the answers of a server is what the model learns from', async () => {
    const children = new Set<ChildProcess>()
    let found = (_url: string) => {}
    const url = new Promise<string>((resolve) => (found = resolve))
    const seen = (text: string, child: ChildProcess) => {
      children.add(child)
      const served = /is served at (\S+)\/v1/.exec(text)
      if (served) found(served[1])
    }
    const ended = ['serve', 'train'].map((side) =>
      example.run(`agents/serve/${side}.yaml`, { 'explorer.proxy_port': 0 }, [], seen),
    )
    const agent = join(root, 'examples/agents/serve/agent.mjs')
    // it is at 0.43 before it has learned; how many rounds it takes depends on which attempts come first
    const right: number[] = []
    const late = () => right.slice(-3).reduce((sum, share) => sum + share / 3, 0)
    const rounds = spawn(process.execPath, [agent, '40', await url], { stdio: ['ignore', 'pipe', 'inherit'] })
    for await (const line of createInterface({ input: rounds.stdout })) {
      const [, share] = /: (0\.\d+|1\.00) right/.exec(line) ?? []
      if (share) right.push(Number(share))
      if (right.length > 3 && late() > 0.7) break
    }
    rounds.kill()
    for (const child of children) child.kill('SIGTERM')
    expect(await Promise.all(ended)).toMatchObject([{ code: 0 }, { code: 0 }])
    expect(right[0]).toBeLessThan(0.65)
    expect(late(), `${right}`).toBeGreaterThan(0.7)
  })

  it('trains on all that a step gave, and a finished run says what is asked differently now', async () => {
    const file = join(dir, 'two.mjs')
    writeFileSync(file, TWO)
    const given = ['--data', made('tasks/train.jsonl'), '--model', made('model'), '--batch', '2', '--repeat', '2']
    const more = ['--steps', '3', '--set', `checkpoint_root_dir=${example.out}`, '--set', 'trainer.save_interval=0']
    const ended = await trinity(dir, ['train', file, ...given, ...more])
    expect(ended, ended.stderr).toMatchObject({ code: 0 })
    expect(example.series('agents/two', 'explorer', 'experience_pipeline/experience_count')).toEqual([8, 8, 8])
    expect(example.series('agents/two', 'trainer', 'sample/model_version_drift/max')).toEqual([0, 0, 0])
    const again = await trinity(dir, ['train', file, ...given, ...more, '--lr', '1e-3'])
    expect(again.stdout).toMatch(/nothing to do[\s\S]*--lr: 0.00001 → 0.001[\s\S]*--steps 6 [\s\S]*--fresh/)
    const few = await trinity(dir, ['train', file, ...given, '--batch', '2000', '--name', 'few'])
    expect(few.stderr).toMatch(/1000 tasks do not fill one batch of 2000[\s\S]*set --batch to 1000 or less, or --steps/)
  })

  it('may be written in Python and run as a program', async () => {
    const short = { 'buffer.total_steps': 2, 'buffer.batch_size': 2, 'algorithm.repeat_times': 2 }
    const set = { ...short, 'explorer.eval_on_startup': false }
    const ended = await example.run('agents/python/agent.yaml', set)
    expect(ended, ended.stderr).toMatchObject({ code: 0 })
    const rewards = example.series('agents/python', 'explorer', 'rollout/reward/mean')
    expect(rewards).toHaveLength(2)
    expect(example.series('agents/python', 'explorer', 'rollout/failed_run_count')).toEqual([0, 0])
  })
})
