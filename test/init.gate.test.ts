import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { root } from './support/doc-blocks.js'

const dir = mkdtempSync(join(tmpdir(), 'trinity-init-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const main = join(root, 'dist/cli/main.js')

function node(cwd: string, ...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd, encoding: 'utf8' })
  return { status, text: stdout + stderr }
}

/** A project as `npm install` would leave it. */
function project(name: string, ...options: string[]) {
  const made = node(dir, main, 'init', name, ...options)
  expect(made.text).toContain('npm run train')
  const folder = join(dir, name)
  mkdirSync(join(folder, 'node_modules/@types'), { recursive: true })
  symlinkSync(root, join(folder, 'node_modules/trinity-rft'))
  symlinkSync(join(root, 'node_modules/@types/node'), join(folder, 'node_modules/@types/node'))
  return folder
}

describe('a new project', () => {
  it.each([
    ['agent', ['--have', 'nothing'], 'agent.ts'],
    ['data', ['--data', 'answers.jsonl', '--model', join(root, 'examples/quickstart/model')], 'reward.ts'],
  ])(
    'of %s has right types, and learns',
    (name, options, plugin) => {
      node(dir, join(root, 'examples/quickstart/make-data.mjs'), '--answers', 'answers.jsonl')
      const folder = project(name, ...options)
      expect(node(folder, join(root, 'node_modules/typescript/bin/tsc'), '-p', '.')).toEqual({ status: 0, text: '' })
      const keys = [
        'buffer.total_steps=16',
        'explorer.eval_interval=16',
        'buffer.batch_size=16',
        'algorithm.optimizer.lr=2e-4',
      ]
      const few = keys.flatMap((key) => ['--set', key])
      const { status, text } = node(folder, main, 'run', '-c', 'trinity.yaml', '--plugin-dir', plugin, ...few)
      expect(status, text).toBe(0)
      const scores = [...text.matchAll(/eval +step \d+ +held-out \S+ ([\d.]+)/g)].map(([, score]) => Number(score))
      expect(scores).toHaveLength(2)
      expect(scores[1]).toBeGreaterThan(scores[0] + 0.1)
      expect(node(folder, main, 'chat', 'trinity.yaml', 'Make 22 from 5, 20, 3').text).toContain('<answer>')
    },
    120_000,
  )

  it('says what is missing, and writes nothing', () => {
    expect(node(dir, main, 'init', 'none', '--have', 'data')).toMatchObject({
      status: 2,
      text: expect.stringContaining('--data FILE'),
    })
    writeFileSync(join(dir, 'rows.jsonl'), '{"question": "1+1", "answer": 2}\n')
    const { status, text } = node(dir, main, 'init', 'own', '--data', 'rows.jsonl')
    expect(status).toBe(2)
    expect(text).toMatch(/error the small model .* can only do sums[\s\S]*--model DIR/)
    const again = node(dir, main, 'init', 'agent')
    expect(again.text).toMatch(/already has package\.json, .*[\s\S]*trinity init my-agent/)
  })
})
