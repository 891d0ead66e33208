import { describe, expect, it } from 'vitest'
import { HOUSES, rowOf } from './house.fixture.js'
import { rewordedCommand, type WordingName } from './wording.js'
import { AlfWorld } from './world.js'

async function play(wording: WordingName) {
  const world = new AlfWorld({ wording })
  await world.reset({ row: { ...rowOf(HOUSES[0]), walkthrough: ['move bread 1 to countertop 1'] }, seed: 0 })
  for (const command of ['go to fridge 1', 'open fridge 1', 'take bread 1 from fridge 1']) world.step(command)
  const command = world.admissible().find((one) => /^(put|move) /.test(one))!
  return { command, walkthrough: world.walkthrough, help: world.step('help').observation, told: world.step(command) }
}

describe('wording', () => {
  it('puts or moves: command, answer, help and walkthrough', async () => {
    const put = await play('put')
    expect(put.command).toBe('put bread 1 in/on fridge 1')
    expect(put.told.observation).toBe('You put the bread 1 in/on the fridge 1.')
    expect(put.help).toContain('put (object) in/on (receptacle):')
    expect(put.walkthrough).toEqual(['put bread 1 in/on countertop 1'])
    const move = await play('move')
    expect(move).toEqual(await play('file'))
    expect(move.command).toBe('move bread 1 to fridge 1')
    expect(move.help).toContain('move (object) to (receptacle):')
  })

  it('rewords commands of either kind, and no others', () => {
    expect(rewordedCommand('put a 1 in/on b 2', 'move')).toBe('move a 1 to b 2')
    expect(rewordedCommand('move a 1 to b 2', 'put')).toBe('put a 1 in/on b 2')
    expect(rewordedCommand('move a 1 to b 2', 'file')).toBe('move a 1 to b 2')
    expect(rewordedCommand('go to b 2', 'put')).toBe('go to b 2')
  })
})
