import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { Example, root } from './kit.js'

const example = new Example()
afterAll(() => example.close())

const rows = (name: string) =>
  readFileSync(join(root, 'examples/quickstart/countdown', name), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { question: string; answer: { target: number; numbers: number[] } })

/** A puzzle, whatever the order of its numbers. */
const puzzle = ({ answer: { target, numbers } }: ReturnType<typeof rows>[number]) =>
  `${[...numbers].sort((a, b) => a - b)}=${target}`

describe('data of the quick start', () => {
  it('holds out 500 puzzles, none of them in the training data in any order', () => {
    const held = new Set(rows('test.jsonl').map(puzzle))
    expect(held.size).toBe(500)
    expect(rows('train.jsonl').filter((row) => held.has(puzzle(row)))).toEqual([])
  })

  it('no other file holds them either', () => {
    const held = new Set(rows('test.jsonl').map(puzzle))
    const known = (question: string) => {
      const [target, ...numbers] = question.match(/\d+/g)!.map(Number)
      return held.has(puzzle({ question, answer: { target, numbers } }))
    }
    for (const name of ['answers.jsonl', 'pairs.jsonl']) {
      const lines = readFileSync(join(root, 'examples/offline', name), 'utf8')
        .trim()
        .split('\n')
      expect(lines.filter((line) => known(JSON.parse(line).question))).toEqual([])
    }
  })

  it('is what make-data.mjs makes', () => {
    const folder = mkdtempSync(join(tmpdir(), 'trinity-data-'))
    try {
      for (const [option, name] of [
        ['--answers', 'answers.jsonl'],
        ['--pairs', 'pairs.jsonl'],
      ]) {
        const file = join(folder, name)
        execFileSync(process.execPath, [join(root, 'examples/quickstart/make-data.mjs'), option, file])
        expect(readFileSync(file, 'utf8')).toBe(readFileSync(join(root, 'examples/offline', name), 'utf8'))
      }
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })

  it('comes with a model of less than a megabyte', () => {
    const file = join(root, 'examples/quickstart/model/model.safetensors')
    expect(existsSync(file)).toBe(true)
    expect(readFileSync(file).length).toBeLessThan(2 ** 20)
  })
})

describe('the quick start', { timeout: 300_000 }, () => {
  it('learns: 30 steps of reinforcement raise the held-out score', async () => {
    const ended = await example.run('quickstart/quickstart.yaml', {
      'buffer.total_steps': 30,
      'explorer.eval_interval': 30,
      'trainer.save_interval': 0,
    })
    expect(ended).toMatchObject({ code: 0, stderr: '' })
    const scores = example.series('quickstart/countdown', 'explorer', 'eval/held-out/score/mean@1')
    expect(scores).toHaveLength(2)
    expect(scores[0]).toBeGreaterThan(0.2)
    expect(scores[0]).toBeLessThan(0.55)
    expect(scores[1]).toBeGreaterThan(scores[0] + 0.15)
    expect(ended.stdout).toContain('huggingface')
  })

  it('learns with raft, though nothing in its workflow filters', async () => {
    const own = new Example()
    try {
      const ended = await own.run('quickstart/quickstart.yaml', {
        'algorithm.algorithm_type': 'raft',
        'buffer.total_steps': 30,
        'explorer.eval_interval': 30,
        'trainer.save_interval': 0,
      })
      expect(ended).toMatchObject({ code: 0, stderr: '' })
      const scores = own.series('quickstart/countdown', 'explorer', 'eval/held-out/score/mean@1')
      expect(scores[1]).toBeGreaterThan(scores[0] + 0.15)
      const kept = own.series('quickstart/countdown', 'trainer', 'advantage/kept_ratio')
      const left = own.series('quickstart/countdown', 'trainer', 'sample/skipped/not_kept')
      // A step is one batch of rollouts: 16 puzzles with 8 answers each.
      for (const [i, count] of left.entries()) expect(count).toBe(128 * (1 - kept[i]))
    } finally {
      await own.close()
    }
  })

  it('gives the same numbers with one thread as with two', async () => {
    const numbers = []
    for (const threads of ['1', '2']) {
      const own = new Example()
      process.env.TRINITY_NATIVE_THREADS = threads
      try {
        const set = { 'buffer.total_steps': 3, 'explorer.eval_interval': 3, 'explorer.eval_on_startup': false }
        expect(await own.run('quickstart/quickstart.yaml', set)).toMatchObject({ code: 0 })
        numbers.push([
          own.series('quickstart/countdown', 'trainer', 'actor/grad_norm'),
          own.series('quickstart/countdown', 'explorer', 'eval/held-out/score/mean@1'),
        ])
      } finally {
        delete process.env.TRINITY_NATIVE_THREADS
        own.close()
      }
    }
    expect(numbers[0][0]).toHaveLength(3)
    expect(numbers[1]).toEqual(numbers[0])
  })
})
