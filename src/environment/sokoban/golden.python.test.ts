import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { testPython } from '../../../test/support/python.js'
import { testData } from '../../../test/support/test-data.js'
import { Pcg64 } from '../../base/random/index.js'
import { readLevels } from './level.js'
import { askSokoban, expectEqual, movesIn, plays } from './oracle.fixture.js'

const python = testPython('gym-sokoban')
const boxoban = testData('sokoban/medium/valid/000.txt')

describe.skipIf(python.absent)(`an installed gym-sokoban${python.note}`, () => {
  it('answers what was recorded of it', () => {
    const golden = JSON.parse(readFileSync(new URL('./golden-gym-sokoban.json', import.meta.url), 'utf8'))
    expect(askSokoban(python.path, golden.plays)).toEqual(golden.played)
  })

  it('plays 100 generated rooms alike', () => {
    const asked = plays(100)
    expectEqual(asked, askSokoban(python.path, asked))
  })

  it.skipIf(boxoban.absent)(`plays 50 levels of Boxoban alike${boxoban.note}`, () => {
    const random = new Pcg64(5)
    const levels = readLevels(readFileSync(boxoban.path, 'utf8')).slice(0, 50)
    const asked = levels.map((level) => ({ level, moves: movesIn(level, 100, random) }))
    expectEqual(asked, askSokoban(python.path, asked))
  })
})
