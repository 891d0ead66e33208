import { describe, expect, it } from 'vitest'
import { readTwl2 } from './twl2.js'

const ACTION = 'action Go { template :: "go to {r}"; feedback :: "#go#"; }'

describe('readTwl2', () => {
  it('reads actions and rules; a later rule replaces an earlier one', () => {
    const { actions, rules } = readTwl2(
      `# a comment
      grammar :: """{"go": [{"rhs": "first"}], "other": [{"condition": "p(a:b)", "rhs": "x\\ny"}]}""";
      action Go { template :: "go to {r}"; feedback :: "#go#";
        grammar :: """
          # another one
          {"go": [{"rhs": "second"}]}
        """;
      }`,
      'g',
    )
    expect([...actions]).toEqual([['go', { template: 'go to {r}', feedback: '#go#' }]])
    expect(rules.get('go')).toEqual([{ condition: '', text: 'second' }])
    expect(rules.get('other')).toEqual([{ condition: 'p(a:b)', text: 'x\ny' }])
  })

  it.each([
    ['grammar', 'it ends too early'],
    ['grammar "x"', "'::' is expected"],
    ['grammar :: x;', 'a text in quotes is expected'],
    ['grammar :: """{""";', 'a grammar is no JSON'],
    ['grammar :: """[]""";', 'not an object of rules'],
    ['grammar :: """{"a": 1}""";', "the rule 'a' is not a list"],
    ['grammar :: """{"a": [{}]}""";', "the rule 'a' has a part without 'rhs'"],
    ['grammar :: """{"a": [null]}""";', "the rule 'a' has a part without 'rhs'"],
    ['action Go { template :: "x"; }', "action 'Go' has no template or no feedback"],
    ['verb Go { }', "'verb' is expected to be 'grammar' or 'action'"],
    [`${ACTION} %%%`, "'%%%' is not understood"],
    ['action Go {', 'it ends too early'],
  ])('says what is wrong with %s', (text, message) => {
    expect(() => readTwl2(text, 'g.twl2')).toThrow(message)
  })
})
