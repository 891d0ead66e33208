import { expect, it } from 'vitest'
import { Sites } from './sites.js'

it('a number of samplers is one device each, behind those of the trainer', () => {
  const sites = new Sites({ devices: 2, samplers: 2 })
  expect(sites.of()).toEqual([[2], [3]])
  expect([sites.processes, sites.devices]).toEqual([4, 4])
  expect([0, 1].map((index) => sites.before(index))).toEqual([2, 3])
})

it('samplers and auxiliary models have the devices that are listed for them', () => {
  const sites = new Sites({ samplers: [[4, 5]], auxiliary: [{}, { samplers: [[6], [7]] }] })
  expect([sites.of(), sites.of(0), sites.of(1), sites.of(2)]).toEqual([[[4, 5]], [], [[6], [7]], []])
  expect([sites.processes, sites.devices]).toEqual([5, 8])
  expect(sites.before(1, 1)).toBe(4)
})

it('nobody has a process of its own unless it is said', () => {
  const sites = new Sites({})
  expect([sites.of(), sites.processes, sites.devices]).toEqual([[], 1, 1])
})
