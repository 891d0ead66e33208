import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { testPython } from '../../../test/support/python.js'
import { askGymnasium, questions } from './oracle.fixture.js'
import { expectEqual } from './replay.fixture.js'

const python = testPython('gymnasium')

describe.skipIf(python.absent)(`an installed Gymnasium${python.note}`, () => {
  it('answers what was recorded of it', () => {
    const golden = JSON.parse(readFileSync(new URL('./golden-gymnasium.json', import.meta.url), 'utf8'))
    expect(askGymnasium(python.path, questions(12))).toEqual(golden)
  })

  it('plays the same 2,000 episodes and draws the same 800 maps', () => {
    const asked = questions(400)
    expectEqual(asked, askGymnasium(python.path, asked))
  })
})
