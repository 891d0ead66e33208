import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { testData } from '../../../../test/support/test-data.js'
import { sourceIn } from '../source.js'
import { DOMAIN } from './domain.js'
import { GRAMMAR } from './grammar.js'
import { isBuiltIn } from './known.js'

const data = testData('alfworld/logic')

describe('isBuiltIn', () => {
  it.skipIf(data.absent)(`knows the texts of json_2.1.1, whatever the task is${data.note}`, () => {
    const read = (name: string) => readFileSync(`${data.path}/${name}`, 'utf8')
    const pddl_domain = read('alfred_2.1.1_from_games.pddl')
    const grammar = read('grammar_2.1.1_template.twl2').replace('__TASK__', 'Your task is to: rest.')
    const { logic, task } = sourceIn({ pddl_problem: '', pddl_domain, grammar }, 'game')
    expect(task).toBe('Your task is to: rest.')
    expect(isBuiltIn(logic)).toBe(true)
    expect(isBuiltIn({ ...logic, domain: read('alfred.pddl') })).toBe(false)
    expect(isBuiltIn({ ...logic, grammar: read('alfred.twl2') })).toBe(false)
  })

  it('knows no others', () => {
    expect(isBuiltIn({ domain: DOMAIN, grammar: `${GRAMMAR} ` })).toBe(false)
  })
})
