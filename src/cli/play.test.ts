import { join } from 'node:path'
import { Readable } from 'node:stream'
import { describe, expect, it, vi } from 'vitest'
import { root } from '../../test/support/doc-blocks.js'
import { environments } from '../environment/index.js'
import { type PlayOptions, play } from './play.js'

async function trinityPlay(name: string | undefined, options: PlayOptions = {}, typed = ''): Promise<string> {
  const printed: string[] = []
  const code = await play(name, options, { input: Readable.from([typed]), print: (text) => void printed.push(text) })
  expect(code).toBe(0)
  return printed.join('\n')
}

describe('trinity play', () => {
  it('lists the worlds', async () => {
    const text = await trinityPlay(undefined)
    for (const name of environments.names()) expect(text).toContain(name)
  })

  it('reads actions from a pipe and shows them', async () => {
    const options = { args: ['size=3', 'holes=0'], seed: '7', maxSteps: '2' }
    const text = await trinityPlay('grid_world', options, 'down\n:undo\nright\nright\n')
    expect(text).toMatch(/^grid_world, seed 7\n/)
    expect(text).toContain('> right\n_ _ P')
    expect(text).toContain('out of steps: score -0.04 after 2 steps')
  })

  it('lines wait for a world that takes its time to begin, and to step', async () => {
    const row = { query: '?', gold: 'SELECT 2', setup: 'CREATE TABLE t (a)' }
    const text = await trinityPlay('intercode_sql', { row: JSON.stringify(row) }, 'SELECT 1\n:undo\nSELECT 2\nsubmit\n')
    expect(text).toMatch(/> SELECT 1\n\[\(1,\)\][\s\S]*> SELECT 2\n\[\(2,\)\][\s\S]*won: score 1 after 2 steps/)
  })

  it('takes a row, and arguments that are text', async () => {
    const options = { row: '{"nums": [2, 3], "target": 6}', args: ['prompt=brief'] }
    expect(await trinityPlay('countdown', options, '2*3')).toMatch(/Make 6 from 2, 3[\s\S]*won/)
  })

  it('lets a model play, and sums up', async () => {
    vi.spyOn(process.stderr, 'write').mockReturnValue(true)
    const [model, data] = ['model', 'countdown'].map((name) => join(root, 'examples/quickstart', name))
    const options = { model, data, split: 'test', args: ['prompt=brief'], episodes: '4', maxTokens: '16', quiet: true }
    const lines = (await trinityPlay('countdown', options)).split('\n')
    expect(lines).toHaveLength(5)
    expect(lines[0]).toMatch(/^countdown, row 0 of .*: (won|out of steps): score [01] after [1-3] steps?$/)
    expect(lines[4]).toMatch(/^4 episodes: success [\d.]+ \(\d\), mean score/)
    vi.restoreAllMocks()
  })

  it.each<[string, PlayOptions, RegExp]>([
    ['countdown', { row: '{' }, /--row is not JSON/],
    ['countdown', { row: '[1]' }, /--row must be a JSON object/],
    ['countdown', { args: ['brief'] }, /--args brief gives no value/],
    ['countdown', { args: ['promt=brief'] }, /unknown argument/],
    ['grid_world', { seed: 'x' }, /--seed is 'x'/],
    ['grid_world', { maxSteps: '0' }, /--max-steps is '0'/],
    ['grid_world', { model: '/nowhere/at/all' }, /nowhere/],
    ['grid_world', { model: 'm', temperature: '-1' }, /--temperature/],
    ['countdown', { data: '/nowhere.jsonl' }, /there is no data set/],
    ['gird_world', {}, /unknown environment/],
  ])('%s %j is refused', async (name, options, message) => {
    await expect(trinityPlay(name, options)).rejects.toThrow(message)
  })
})
