import { expect, it } from 'vitest'
import { commandOf, withValue } from './train-command.js'

const FLAGS = { data: 'my tasks.jsonl', model: 'model', batch: '16', repeat: '8', lr: '2e-4', steps: '5', fresh: true }
const BEGIN = "trinity train agent.ts --data 'my tasks.jsonl' --model model --batch 16 --repeat 8 --lr 2e-4"

it('is what was asked for, without what is done once', () => {
  expect(commandOf('agent.ts', FLAGS)).toBe(`${BEGIN} --steps 5`)
})

it('has each setting once, whichever way it was given', () => {
  const twice = (flags: object, key = 'buffer.total_steps') =>
    commandOf('agent.ts', withValue({ ...FLAGS, ...flags }, key, 10))
  expect(twice({})).toBe(`${BEGIN} --steps 10`)
  expect(twice({ steps: undefined, set: ['buffer.total_steps=5', 'a.b=1'] })).toBe(
    `${BEGIN} --set a.b=1 --set buffer.total_steps=10`,
  )
  expect(twice({ steps: undefined }, 'buffer.total_epochs')).toBe(`${BEGIN} --set buffer.total_epochs=10`)
})
