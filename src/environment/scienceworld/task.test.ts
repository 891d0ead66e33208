import { describe, expect, it } from 'vitest'
import { askedTask, checkSimplifications, settledTask } from './task.js'

const KNOWN = [
  'boil',
  'identify-life-stages-1',
  'measure-melting-point-known-substance',
  'mendelian-genetics-known-plant',
]
const asked = (row: Record<string, unknown>, text?: unknown) => askedTask({ row, seed: 0, text })

describe('the task of a row', () => {
  it.each([
    [{ task_desc: '{"task_name": "boil", "var_num": 3, "jar_path": "/a.jar"}', targe: '' }, undefined],
    [{ other: 1 }, ' {"task_name": "boil", "var_num": "3", "jar_path": "/a.jar"}'],
    [{}, { task_name: 'boil', var_num: 3, jar_path: '/a.jar' }],
    [{ task_name: 'boil', var_num: 3, jar_path: '/a.jar', task_desc: 'Boil water.' }, 'Boil water.'],
  ])('%o, %o', (row, text) => {
    expect(asked(row, text)).toEqual({ name: 'boil', variation: 3, jar: '/a.jar' })
  })

  it('what is no task says so', () => {
    for (const row of [
      {},
      { task_desc: 7 },
      { task_desc: ' ' },
      { task_desc: '{}' },
      { task_desc: '{"task_name": 1}' },
    ]) {
      expect(() => asked(row)).toThrow(expect.objectContaining({ code: 'environment/row' }))
    }
  })
})

describe('the name of a task', () => {
  it.each([
    ['boil', { task: 'boil', variation: 0 }],
    ['boil-12', { task: 'boil', variation: 12 }],
    ['task-1-boil', { task: 'boil', variation: 0 }],
    ['identify-life-stages-1', { task: 'identify-life-stages-1', variation: 0 }],
    ['identify-life-stages-1-4', { task: 'identify-life-stages-1', variation: 4 }],
    ['task-10-measure-melting-point-(known-substance)', { task: KNOWN[2], variation: 0 }],
    ['task-5b-mendellian-genetics-known-plant', { task: KNOWN[3], variation: 0 }],
  ])('%s', (name, settled) => {
    expect(settledTask({ name }, KNOWN)).toEqual(settled)
  })

  it('a number that is given is the variation, and nothing else is', () => {
    expect(settledTask({ name: 'identify-life-stages-1', variation: 2 }, KNOWN).variation).toBe(2)
    expect(() => settledTask({ name: 'boil-12', variation: 2 }, KNOWN)).toThrow("no task 'boil-12'")
  })

  it('electrical tasks keep their wires', () => {
    expect(() => checkSimplifications('power-component', 'openDoors,noElectricalAction')).toThrow('needs wires')
    checkSimplifications('power-component', 'easy')
    checkSimplifications('boil', 'noElectricalAction')
  })
})
