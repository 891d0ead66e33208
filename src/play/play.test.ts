import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { tempDir } from '../../test/support/temp-dir.js'
import { type GameOptions, openGame, type Player, playYourself, summary, watch } from './index.js'

const PUZZLE = { nums: [44, 19, 35], target: 98 }
const options = (more: Partial<GameOptions> = {}): GameOptions => ({
  world: 'countdown',
  args: {},
  row: PUZZLE,
  task: 0,
  seed: 0,
  ...more,
})

/** What is printed for the lines that a person types. */
async function typed(lines: string[], more: Partial<GameOptions> = {}): Promise<string> {
  const game = await openGame(options(more))
  const printed: string[] = []
  async function* input() {
    yield* lines
  }
  await playYourself(game, { lines: input(), print: (text) => printed.push(text), ask() {} })
  await game.close()
  return printed.join('\n')
}

describe('a person plays', () => {
  it('sees the task, the steps and the end', async () => {
    const text = await typed(['44 + 19', '', '44 + 19 + 35', '1 + 1'])
    expect(text).toMatch(/^countdown, seed 0\n\nUse the numbers \[44, 19, 35\]/)
    expect(text).toContain('does not use every given number exactly once.\nstep 1 of 3, reward 0, score 0')
    expect(text).toContain('won: score 1 after 2 steps\nThe episode is over')
  })

  it('goes back, also from the end, as often as there were steps', async () => {
    const text = await typed(['44', ':undo', ':undo', '44 + 19 + 35', ':undo', '19'])
    expect(text).toContain('this is the beginning')
    expect(text.match(/step 1 of 3/g)).toHaveLength(3)
    expect(text).not.toContain('step 2')
  })

  it('is shown what a model would be told, and the goal', async () => {
    expect(await typed([':prompt'])).toContain('[user]\nUse the numbers')
    expect(await typed([':goal'])).toMatch(/to make 98[\s\S]*to make 98/)
  })

  const grid = { world: 'grid_world', args: { size: 3, holes: 0 }, row: undefined }
  it('chooses actions by number', async () => {
    const text = await typed([':2', ':9', ':admissible', ':adm'], grid)
    expect(text).toContain('_ _ _\nP _ _\n_ _ G')
    expect(text).toContain('there is no action 9')
    expect(text.match(/:1 up\n {2}:2 down/g)).toHaveLength(4)
    expect(await typed([':admissible'])).toContain('this world does not list its actions')
  })

  it('begins again, and goes on with the next', async () => {
    const maps = await typed([':2', ':reset', ':next'], { ...grid, args: { size: 4, holes: 0.2 } })
    expect(maps.match(/grid_world, seed \d/g)).toEqual([
      'grid_world, seed 0',
      'grid_world, seed 0',
      'grid_world, seed 1',
    ])
  })

  it('ends at :quit, and commands that are none have a nearest', async () => {
    expect(await typed([':q', '44'])).not.toContain('step 1')
    expect(await typed([':undoo', ':', ':x'])).toMatch(/no command :undoo; did you mean :undo\?[\s\S]*no command :/)
    expect(await typed(['::3'])).toContain(':3 is not an expression')
    expect(await typed([':help'])).toContain(':admissible')
  })
})

describe('a model plays', () => {
  const player = (replies: (string | undefined)[]): Player => ({ reply: async () => replies.shift() })
  const say = (text: string) => `<think>hm</think><answer>${text}</answer>`

  it('turn by turn, and all episodes are counted', async () => {
    const game = await openGame(options())
    const printed: string[] = []
    const all = [[say('44'), 'no idea', say('44+19+35')], [say('44+19+35')], [say('1'), undefined]]
    const watched = await watch(game, {
      episodes: 3,
      player: (at) => player(all[at]),
      print: (text) => printed.push(text),
    })
    const text = printed.join('\n')
    expect(text).toMatch(
      /── world ──\nUse the numbers[\s\S]*── model ──\n<think>hm<\/think><answer>44<\/answer>\naction: 44; step 1 of 3/,
    )
    expect(text).toContain('no action; step 2 of 3')
    expect(text).toContain('the conversation does not fit into the model: score 0 after 1 step')
    expect(text).not.toContain('out of steps')
    expect(watched).toEqual({ episodes: 3, won: 2, score: 2 / 3, steps: 5 / 3, unfit: 1 })
    expect(summary(watched)).toBe(
      '3 episodes: success 0.6667 (2), mean score 0.6667, mean steps 1.6667; 1 did not fit into the model',
    )
    await game.close()
  })

  it('can be quiet', async () => {
    const game = await openGame(options({ world: 'dapo_math', row: { question: '1+1?', answer: 2 } }))
    const printed: string[] = []
    const loud: string[] = []
    const one = { episodes: 1, player: () => player([say('2')]) }
    await watch(game, { ...one, print: (text) => printed.push(text), quiet: true })
    await watch(game, { ...one, print: (text) => loud.push(text) })
    expect(printed).toEqual(['dapo_math, seed 0: won: score 1 after 1 step'])
    expect(loud.join('\n')).toContain('── system ──')
    const short = { episodes: 1, player: () => player([]), print: (text: string) => printed.push(text), quiet: true }
    expect(summary(await watch(game, short))).toContain('mean steps 0; 1 did not fit')
    expect(printed[1]).toBe('dapo_math, seed 0: the conversation does not fit into the model: score 0 after 0 steps')
    await game.close()
  })
})

describe('openGame', () => {
  it('takes the row of a file, and the next ones', async () => {
    const data = join(await tempDir(), 'puzzles.jsonl')
    const rows = [PUZZLE, { nums: [1, 2], target: 3 }, { nums: [2, 5], target: 7 }]
    await writeFile(data, rows.map((row) => JSON.stringify(row)).join('\n'))
    const game = await openGame(options({ row: undefined, data, task: 1 }))
    expect((await game.begin()).title).toBe(`countdown, row 1 of ${data}, seed 1`)
    expect((await game.begin(1)).episode.turn.observation).toContain('[2, 5]')
    await expect(game.begin(2)).rejects.toMatchObject({ code: 'cli/usage', hint: 'the last one is 2' })
    await game.close()
  })

  it('says what to do without data, and names the nearest world', async () => {
    const game = await openGame(options({ row: undefined }))
    await expect(game.begin()).rejects.toMatchObject({
      code: 'cli/no-row',
      hint: expect.stringContaining('trinity data countdown, then --data data/countdown'),
    })
    await expect(openGame(options({ world: 'contdown' }))).rejects.toMatchObject({
      hint: expect.stringContaining("'countdown'"),
    })
  })
})
