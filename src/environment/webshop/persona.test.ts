import { describe, expect, it } from 'vitest'
import type { Turn } from '../environment.js'
import { plainPersona, studyPersona } from './persona.js'

const args = { invalid_reward: -0.1, unfinished_reward: null }
const base: Turn = { step: 0, maxSteps: 15, observation: 'the page', past: [] }
const item: Turn = { ...base, admissible: ['click[back to search]', 'click[b01]', "click[it's]"] }
const following = (reply: string): Turn => ({
  ...item,
  past: [{ observation: '', prompt: '', reply, transition: { observation: '', reward: 0, done: false } }],
})
const reply = (action: string) => `<think>hm</think> <action>${action}</action>`

describe('the persona of the study', () => {
  const { system, prompt, action } = studyPersona(args)

  it('tells the rules with the limit, and with each page what can be done', () => {
    expect(system?.(base)).toMatch(/within 15 steps/)
    expect(prompt(base)).toContain("the page\n\nAvailable actions: {'has_search_bar': True, 'clickables': ['search']}")
    expect(prompt(item)).toContain(`{'has_search_bar': False, 'clickables': ['back to search', 'b01', "it's"]}`)
  })

  it('takes the first action after a thought', () => {
    expect(action(reply('search[red]'), base)).toBe('search[red]')
    expect(action('<action>click[x]</action><think>\n</think> so <action> click[B01]\n</action>', item)).toBe(
      'click[B01]',
    )
  })

  it.each([
    '',
    'click[b01]',
    '<action>click[b01]</action>',
    '<think>a<action>click[b01]</action>',
    '<think></think><action>',
  ])('a reply of another form ends the visit: %j', (text) => {
    expect(action(text, item)).toMatchObject({ reward: -0.1, score: -0.1, done: true, metrics: { valid_action: 0 } })
  })

  it('the same action twice ends it, but for searching and turning pages', () => {
    expect(action(reply('click[b01]'), following(reply('click[b01]')))).toMatchObject({ done: true, reward: -0.1 })
    expect(action(reply('click[foo]'), following(reply('click[foo]')))).toMatchObject({ done: true })
    expect(action(reply('click[b01]'), following(reply('click[b02]')))).toBe('click[b01]')
    const turns: Turn = { ...following(reply('click[Next >]')), admissible: ['click[next >]'] }
    expect(action(reply('click[Next >]'), turns)).toBe('click[Next >]')
    expect(action(reply('click[back to search]'), following(reply('click[back to search]')))).toBe(
      'click[back to search]',
    )
  })

  it('what the page does not allow costs, and is told', () => {
    expect(action(reply('click[foo]'), item)).toEqual({
      observation: `There is no such button on this page. The buttons are: ['back to search', 'b01', "it's"]`,
      reward: -0.1,
      done: false,
      score: -0.1,
      metrics: { valid_action: 0 },
    })
    expect(action(reply('search[red]'), item)).toMatchObject({ done: false })
    const strict = studyPersona({ invalid_reward: -0.1, unfinished_reward: null, end_on_invalid: true })
    expect(strict.action(reply('click[foo]'), item)).toMatchObject({ done: true, score: -0.1 })
    expect(strict.action(reply('click[b01]'), item)).toBe('click[b01]')
  })
})

describe('the persona of Trinity-RFT', () => {
  const { system, prompt, action } = plainPersona({ invalid_reward: 0, unfinished_reward: -0.1 })

  it('shows the page alone and wants one tag', () => {
    expect(system?.(base)).toMatch(/within 15 steps/)
    expect(prompt(item)).toBe('Observation: the page')
    expect(action('so <action> click[b01] </action> or <action>click[x]</action>', item)).toBe('click[b01]')
    expect(action('<action>search[red]', base)).toBe('search[red]')
  })

  it('goes on after whatever was wrong', () => {
    for (const text of ['', 'click[b01]', reply('click[foo]'), reply('buy')]) {
      expect(action(text, following(text))).toMatchObject({ reward: 0, score: -0.1, done: false })
    }
  })
})
