import { describe, expect, it } from 'vitest'
import { Episode, environmentOf, openEnvironment } from '../index.js'

async function begin(world: string, row: Record<string, unknown>, args: object = {}, maxSteps = 3) {
  const { entry, args: parsed } = environmentOf(world, args as Record<string, unknown>)
  const environment = await openEnvironment(world, args as Record<string, unknown>)
  return Episode.begin({ environment, persona: entry.persona(parsed), maxSteps }, { row, seed: 0 })
}
const last = (episode: Episode) => String(episode.messages().at(-1)?.content)

describe('dapo_math', () => {
  const row = { question: 'What is one half of 7?', answer: '#### 3.5' }

  it('three attempts in one conversation: a bad form, a wrong answer, a right one', async () => {
    const episode = await begin('dapo_math', row)
    expect(episode.messages()[0]).toMatchObject({ role: 'system', content: expect.stringContaining('\\boxed{1683}') })
    expect(last(episode)).toMatch(/^What is one half of 7\?\n\nRemember: .*<answer>/)
    await episode.reply('It is 3.5.')
    expect([episode.invalid, episode.over]).toEqual([1, false])
    expect(last(episode)).toMatch(/nothing between <answer> and <\/answer>[\s\S]*Remember/)
    await episode.reply('<think>7 - 2</think><answer>5</answer>')
    expect(last(episode)).toContain('Your answer 5 is incorrect')
    // The truth is not told.
    expect(
      episode
        .messages()
        .map(({ content }) => content)
        .join(),
    ).not.toMatch(/3\.5(?!\.)/)
    await episode.reply('<think>7 / 2</think><answer>\\boxed{\\frac{7}{2}}</answer>')
    expect([episode.over, episode.won, episode.score, episode.turn.step]).toEqual([true, true, 1, 3])
  })

  it('is over after the third, or with a right one', async () => {
    const lost = await begin('dapo_math', row)
    for (let i = 0; i < 3; i++) await lost.reply('<think></think><answer>4</answer>')
    expect([lost.over, lost.won, lost.score]).toEqual([true, false, 0])
    const won = await begin('dapo_math', row)
    await won.reply('<think>easy</think>\nAnswer: 3.5')
    expect([won.over, won.score]).toEqual([true, 1])
    const single = await begin('dapo_math', row, {}, 1)
    await single.reply('<think></think><answer>4</answer>')
    expect(single.over).toBe(true)
  })

  it('an answer without thinking is of bad form; both can be allowed, or end the episode', async () => {
    const strict = await begin('dapo_math', row, { end_on_bad_format: true })
    await strict.reply('<answer>3.5</answer>')
    expect([strict.over, strict.score, strict.turn.observation]).toEqual([true, 0, expect.stringContaining('<think>')])
    for (const reply of [
      '<answer>3.5</answer>',
      'So we find that the answer is 3.5.',
      '<think>x</think>\\boxed{7/2}',
    ]) {
      const lenient = await begin('dapo_math', row, { strict: false })
      await lenient.reply(reply)
      expect([reply, lenient.won]).toEqual([reply, true])
    }
  })
})

describe('qwen_math', () => {
  const row = { prompt: [{ role: 'user', content: 'Solve it.' }], reward_model: { ground_truth: '\\frac{1}{2}' } }

  it('takes the last box, and asks for one that is missing', async () => {
    const episode = await begin('qwen_math', row)
    expect(episode.messages()).toMatchObject([{ role: 'system' }, { role: 'user', content: 'Solve it.' }])
    await episode.reply('one half')
    expect(last(episode)).toContain('\\boxed{}')
    await episode.reply('\\boxed{2} or rather \\boxed{\\dfrac{1}{2}}')
    expect([episode.won, episode.score, episode.invalid]).toEqual([true, 1, 1])
  })

  it('can read an answer without a box', async () => {
    const episode = await begin('qwen_math', row, { strict: false }, 1)
    await episode.reply('The answer is $1/2$.')
    expect(episode.won).toBe(true)
  })
})

describe('countdown', () => {
  const row = { nums: [44, 19, 35], target: 98 }
  const say = (answer: string) => `<think>hm</think><answer>${answer}</answer>`

  it('has no system message; later prompts list what was tried', async () => {
    const episode = await begin('countdown', row)
    expect(episode.messages()).toHaveLength(1)
    expect(last(episode)).toMatch(/\[44, 19, 35\] to make 98[\s\S]*Now it is your turn.*\(1 \+ 2\) \/ 3/)
    expect(last(episode)).not.toContain('attempt')
    await episode.reply(say('44 + 19'))
    expect(last(episode)).toMatch(
      /^Feedback: 44 \+ 19 does not use every given number exactly once\.\n\nUse the numbers/,
    )
    await episode.reply('no idea')
    expect(last(episode)).toMatch(
      /Earlier attempts:\n1\. 44 \+ 19 .*\n2\. Your reply has nothing.*\n\nThis is attempt 3 of 3\./,
    )
    await episode.reply(say('44 + 19 + 35'))
    expect([episode.won, episode.score]).toEqual([true, 1])
  })

  it('lists at most four', async () => {
    const episode = await begin('countdown', row, {}, 9)
    for (let i = 0; i < 6; i++) await episode.reply(say('44 - 19 - 35'))
    expect(last(episode).match(/^\d\. /gm)).toEqual(['3. ', '4. ', '5. ', '6. '])
    expect(last(episode)).toContain('attempt 7 of 9')
  })

  it.each(['44+19+35=98', '44 + 19 + 35 + 0', '98', '(44 + 19 + 35', '44 - 19 + 35', 'eval(1)'])(
    '%s is wrong',
    async (answer) => {
      const episode = await begin('countdown', row)
      await episode.reply(say(answer))
      expect([episode.score, episode.over]).toEqual([0, false])
    },
  )

  it('reads the puzzles of other sets', async () => {
    const puzzle = { numbers: [44, 19, 35], target: 98 }
    for (const other of [puzzle, { reward_model: { ground_truth: puzzle } }, { answer: JSON.stringify(puzzle) }]) {
      const episode = await begin('countdown', other)
      await episode.reply(say('35 + 19 + 44'))
      expect(episode.won).toBe(true)
    }
    await expect(begin('countdown', { question: 'x' })).rejects.toMatchObject({ code: 'reward/no-truth' })
  })

  it('can be brief: the puzzle alone, and the expression with tags or without', async () => {
    const episode = await begin('countdown', row, { prompt: 'brief' })
    expect(last(episode)).toBe('Make 98 from 44, 19, 35')
    await episode.reply('44-19')
    expect([last(episode), episode.won]).toEqual(['Make 98 from 44, 19, 35', false])
    await episode.reply('<answer>44+19-35</answer>')
    await episode.reply('44+19+35')
    expect(episode.won).toBe(true)
  })
})
