import { describe, expect, it } from 'vitest'
import { guided } from './guidance.js'

const said = (rules: boolean, turns: number) => [
  ...(rules ? [{ role: 'system', content: 'rules' }] : []),
  ...Array.from({ length: turns }, (_, i) => [
    { role: 'user', content: `question ${i}` },
    { role: 'assistant', content: `answer ${i}` },
  ]).flat(),
  { role: 'user', content: `question ${turns}` },
]

describe('guidance', () => {
  it('stands behind the rules from the beginning, or before the first question where there are none', () => {
    const [rules, ...rest] = guided(said(true, 2), 'ADVICE', 0)
    expect(rules).toEqual({ role: 'system', content: 'rules\n\n## Previous Attempt Analysis & Guidance\n\nADVICE' })
    expect(rest).toEqual(said(true, 2).slice(1))
    const [first, ...others] = guided(said(false, 2), 'ADVICE', 0)
    expect(first).toMatchObject({ role: 'user', content: expect.stringMatching(/ADVICE\n\nquestion 0$/) })
    expect(others).toEqual(said(false, 2).slice(1))
  })

  it.each([true, false])('comes before the question of the pivot, rules: %s', (rules) => {
    for (const turns of [0, 1, 2, 3]) {
      const messages = guided(said(rules, turns), 'ADVICE', 2)
      const at = messages.findIndex(({ content }) => content === 'ADVICE')
      if (turns < 2) expect(messages).toEqual(said(rules, turns))
      else expect(messages[at + 1]).toEqual({ role: 'user', content: 'question 2' })
      expect(messages.filter(({ content }) => content !== 'ADVICE')).toEqual(said(rules, turns))
    }
  })
})
