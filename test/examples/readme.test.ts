import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { trinity } from '../run/cli-kit.js'
import { root } from './kit.js'

const dir = mkdtempSync(join(tmpdir(), 'trinity-readme-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

it('the agent of the README runs as it stands there', { timeout: 60_000 }, async () => {
  const page = readFileSync(join(root, 'README.md'), 'utf8')
  const block = (language: string) => new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(page)?.[1] ?? ''
  writeFileSync(join(dir, 'agent.ts'), block('ts'))
  symlinkSync(join(root, 'examples'), join(dir, 'examples'))
  const [, command] = /npx trinity (train .*)/.exec(page) ?? []
  const ended = await trinity(dir, [...command.replace('--steps 100', '--steps 2').split(' ')])
  expect(ended.code, ended.stderr).toBe(0)
  const rows = readFileSync(join(dir, 'checkpoints/agents/sums/monitor/explorer.jsonl'), 'utf8').trim().split('\n')
  const rewards = rows.map((row) => JSON.parse(row).metrics['rollout/reward/mean'])
  expect(Math.max(...rewards)).toBeGreaterThan(0)
})
