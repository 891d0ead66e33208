import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import * as vitest from 'vitest'
import { describe, expect, it } from 'vitest'
import { testData } from '../../../test/support/test-data.js'
import { describeEnvironment } from '../../testing/environment.js'
import { environmentOf, openEnvironment } from '../index.js'
import { generateLevel } from './generate.js'
import { picture, readLevel, readLevels, writeLevel } from './level.js'
import { isSolved, move } from './room.js'
import { STEPS } from './sokoban.js'
import { solve } from './solve.js'

const ROOM = `
#####
#@$.#
# $.#
#####`

describeEnvironment(vitest, 'sokoban', {
  open: () => openEnvironment('sokoban', { dim_room: [7, 6], num_boxes: 2 }),
  episodes: [...[1, 2, 3].map((seed) => ({ row: { seed }, seed: 0 })), { row: { level: ROOM }, seed: 0 }],
  ending: { episode: { row: { level: ROOM }, seed: 0 }, actions: ['right', 'left', 'down', 'right'] },
  refused: ({ metrics }) => metrics?.valid_action === 0,
})

describe('sokoban', () => {
  it('shows the room and pays for boxes', async () => {
    const world = await openEnvironment('sokoban')
    const start = await world.reset({ row: { level: ROOM }, seed: 0 })
    expect(start.observation).toBe(' #  #  #  #  # \n #  P  X  O  # \n #  _  X  O  # \n #  #  #  #  # ')
    const pushed = await world.step('Right')
    expect(pushed).toMatchObject({ reward: 0.9, done: false, metrics: { 'boxes_on_goals:last': 1 } })
    expect(pushed.observation.split('\n')[1]).toBe(' #  _  P  √  # ')
    expect(await world.step('right')).toMatchObject({ reward: -0.1, observation: pushed.observation })
    await world.step('left')
    await world.step('down')
    expect(await world.step('right')).toMatchObject({ reward: 10.9, done: true, won: true })
  })

  it('says what is wrong with a row', async () => {
    const world = await openEnvironment('sokoban')
    const bad = ['', '#@$#', '#@@$.#', '#$.#', '#@ #', '#@*#', '#@$.?#', `#@$.${' '.repeat(80)}#`, '@$.\n'.repeat(90)]
    for (const level of [...bad, 5, ['#']]) {
      await expect(world.reset({ row: { level }, seed: 0 }), String(level)).rejects.toMatchObject({
        code: 'environment/row',
        path: 'level',
      })
    }
    for (const row of [{ dim_room: 3 }, { dim_room: [4, 5, 6] }, { num_boxes: 0 }, { seed: 'x' }]) {
      await expect(world.reset({ row, seed: 0 })).rejects.toMatchObject({ code: 'environment/row' })
    }
    await expect(world.reset({ row: { dim_room: 4, num_boxes: 20 }, seed: 0 })).rejects.toMatchObject({
      code: 'environment/room',
    })
  })

  it('takes the last answer of a reply', () => {
    const { entry, args } = environmentOf('sokoban', {})
    const turn = { step: 0, maxSteps: 9, observation: 'room', past: [] }
    const persona = entry.persona(args)
    expect(persona.action('<think>up?</think><answer>Up</answer> or <answer> Down </answer>', turn)).toBe('Down')
    expect(persona.action('Up', turn)).toMatchObject({ reward: -0.1, metrics: { valid_action: 0 } })
    expect(persona.prompt(turn)).toBe('room\nSteps remaining: 9.')
  })
})

const spec = fc.record({
  rows: fc.integer({ min: 5, max: 9 }),
  columns: fc.integer({ min: 5, max: 9 }),
  boxes: fc.integer({ min: 1, max: 2 }),
  seed: fc.nat(),
})

describe('rooms', () => {
  it('that are generated are closed, can be solved, and come again for the same seed', () => {
    fc.assert(
      fc.property(spec, (spec) => {
        const level = generateLevel(spec)
        expect(generateLevel(spec)).toEqual(level)
        const { room, places } = level
        const border = room.walls.filter((_, field) => {
          const [row, column] = [Math.floor(field / room.columns), field % room.columns]
          return row === 0 || column === 0 || row === room.rows - 1 || column === room.columns - 1
        })
        expect(border.every(Boolean)).toBe(true)
        expect(places.boxes).toHaveLength(spec.boxes)
        const ways = solve(level, 300_000)
        expect(ways?.length).toBeGreaterThan(0)
        expect(
          isSolved(
            room,
            ways!.reduce((at, way) => move(room, at, way)!, places),
          ),
        ).toBe(true)
      }),
      { numRuns: 30 },
    )
  })

  it('keep their boxes and their player, whatever is done in them', () => {
    const moves = fc.array(fc.constantFrom(0, 1, 2, 3), { maxLength: 60 })
    fc.assert(
      fc.property(spec, moves, (spec, all) => {
        const { room, places } = generateLevel(spec)
        let at = places
        for (const way of all) {
          at = move(room, at, way as 0) ?? at
          const fields = [at.player, ...at.boxes]
          expect(new Set(fields).size).toBe(spec.boxes + 1)
          expect(fields.some((field) => room.walls[field])).toBe(false)
          const again = readLevel(writeLevel({ room, places: at }))
          expect(again.places.player).toBe(at.player)
          expect([...again.places.boxes]).toEqual([...at.boxes].sort((a, b) => a - b))
          expect(picture(again)).toBe(picture({ room, places: at }))
        }
      }),
      { numRuns: 30 },
    )
  })

  it('have no way through their border', () => {
    const { room, places } = readLevel('@$.\n.$ ')
    expect([0, 2].map((way) => move(room, places, way as 0))).toEqual([undefined, undefined])
    expect(move(room, { player: 2, boxes: [5] }, 3)).toBeUndefined()
    expect(move(room, { player: 2, boxes: [5] }, 1)).toBeUndefined()
  })

  it('that cannot be solved have no solution', () => {
    expect(solve(readLevel('#####\n#$@.#\n#####'))).toBeUndefined()
    expect(solve(readLevel(ROOM))?.map((way) => STEPS.names[way])).toEqual(['right', 'left', 'down', 'right'])
    expect(solve(readLevel(ROOM), 2)).toBeUndefined()
  })
})

const data = testData('sokoban')
describe.skipIf(data.absent)(`files of Boxoban${data.note}`, () => {
  it.each([
    ['unfiltered/test/000.txt', 1000],
    ['hard/003.txt', 332],
  ])('%s', async (name, count) => {
    const levels = readLevels(readFileSync(`${data.path}/${name}`, 'utf8'))
    expect(levels).toHaveLength(count)
    for (const level of levels) {
      const read = readLevel(level)
      expect([read.room.rows, read.room.columns, read.places.boxes.length]).toEqual([10, 10, 4])
      expect(writeLevel(read)).toBe(level)
    }
  })
})
