import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { tempDir } from '../../test/support/temp-dir.js'
import { answersOf } from './ask.js'

const dir = await tempDir()
const [RIGHT, EMPTY, OTHER] = [join(dir, 'right.jsonl'), join(dir, 'empty.jsonl'), join(dir, 'other.csv')]
writeFileSync(RIGHT, '{"question": "1+1", "answer": 2}\n')
writeFileSync(EMPTY, '{"question": "", "answer": 2}\n')
writeFileSync(OTHER, 'frage;antwort\n1+1;2\n')

/** Somebody who types these lines, one after the other. */
function person(...lines: string[]) {
  const asked: string[] = []
  return {
    asked,
    ask: async (text: string) => {
      asked.push(text)
      return lines.shift() ?? ''
    },
  }
}

describe('what a project is made from', () => {
  it('is the defaults where nobody is there to ask', async () => {
    expect(await answersOf({})).toEqual({ have: 'nothing', sdk: 'none', where: 'cpu' })
    expect(await answersOf({ have: 'agent' })).toMatchObject({ have: 'agent', sdk: 'openai' })
  })

  it('is asked in three questions, by number, name or beginning', async () => {
    const one = person('2', 'mas', '')
    expect(await answersOf({}, one.ask)).toEqual({ have: 'agent', sdk: 'mastra', where: 'cpu' })
    expect(one.asked).toHaveLength(3)
    expect(one.asked[0]).toContain('2 an agent')
  })

  it('is asked again where the answer is none', async () => {
    const one = person('banana', '2', 'open', '1', 'gpu', '', 'org/model')
    const answers = await answersOf({}, one.ask)
    expect(answers).toEqual({ have: 'agent', sdk: 'openai', where: 'gpu', model: 'org/model' })
    expect(one.asked[1]).toContain('Type a number from 1 to 3.')
  })

  it('is not asked where it was said', async () => {
    const one = person('')
    expect(await answersOf({ have: 'agent', sdk: 'openai' }, one.ask)).toMatchObject({ where: 'cpu' })
    expect(one.asked).toHaveLength(1)
  })

  it('has a model where the small one would learn nothing', async () => {
    expect(await answersOf({ where: 'gpu', have: 'nothing' }, person('org/model').ask)).toMatchObject({
      model: 'org/model',
    })
    expect(await answersOf({ data: RIGHT })).toMatchObject({ have: 'data', data: RIGHT, model: undefined })
  })

  it('is checked when it is said: the file before anything else is asked', async () => {
    const one = person('3', 'nope.csv', EMPTY, RIGHT, '', './no/model', 'org/model')
    expect(await answersOf({}, one.ask)).toEqual({
      have: 'data',
      sdk: 'none',
      where: 'cpu',
      data: RIGHT,
      model: 'org/model',
    })
    expect(one.asked[1]).toMatch(/^File with/)
    expect(one.asked[2]).toMatch(/^there is no file nope\.csv/)
    expect(one.asked[3]).toMatch(/^this row has no question/)
    expect(one.asked[4]).toMatch(/^Where/)
    expect(one.asked[6]).toMatch(/^there is no model at/)
    await expect(answersOf({ data: 'nope.csv' }, one.ask)).rejects.toThrow(/there is no file/)
  })

  it('is the columns too, where their names say nothing', async () => {
    const one = person('2', 'frage', '', 'org/model')
    expect(await answersOf({ data: OTHER }, one.ask)).toMatchObject({ promptKey: 'antwort', responseKey: 'frage' })
    expect(one.asked[0]).toContain('Which column holds the questions?\n  1 frage\n  2 antwort')
  })

  it.each([
    [{ have: 'cat' }, /--have cannot be 'cat'/],
    [{ have: 'agent', sdk: 'open' }, /--sdk cannot be 'open'/],
    [{ where: '' }, /--where cannot be ''/],
  ])('refuses %j', async (given, message) => {
    await expect(answersOf(given)).rejects.toThrow(message)
  })
})
