import { expect, it } from 'vitest'
import { Gate } from './gate.js'

const never = new AbortController().signal

it('lets so many in at once, the others in their order, and refuses who finds too many waiting', async () => {
  const gate = new Gate(2, 2)
  const [a, b] = [await gate.enter(never), await gate.enter(never)]
  const entered: string[] = []
  const third = gate.enter(never).then((leave) => {
    entered.push('third')
    return leave
  })
  const fourth = gate.enter(never).then((leave) => {
    entered.push('fourth')
    return leave
  })
  expect(() => gate.enter(never)).toThrow(expect.objectContaining({ code: 'engine/busy' }))
  expect([gate.running, gate.waiting]).toEqual([2, 2])
  a?.()
  a?.()
  await third
  expect(entered).toEqual(['third'])
  b?.()
  await fourth
  expect([gate.running, gate.waiting]).toEqual([2, 0])
})

it('closed, it keeps who waits, and says when nothing is under way', async () => {
  const gate = new Gate(8, 8)
  const leave = await gate.enter(never)
  const [open, openAgain] = [gate.close(), gate.close()]
  const later = gate.enter(never)
  const empty = gate.empty(never)
  leave?.()
  await empty
  open()
  expect(gate.waiting).toBe(1)
  openAgain()
  expect(await later).toBeTypeOf('function')
})

it('who does not want to wait any more gets nothing, and holds no place', async () => {
  const gate = new Gate(1, 8)
  const leave = await gate.enter(never)
  const control = new AbortController()
  const waiting = gate.enter(control.signal)
  control.abort()
  expect(await waiting).toBeUndefined()
  expect(await gate.enter(control.signal)).toBeUndefined()
  leave?.()
  expect(gate.running).toBe(0)
  const late = new AbortController()
  await gate.enter(never)
  const empty = gate.empty(late.signal)
  late.abort(new Error('too late'))
  await expect(empty).rejects.toThrow('too late')
})
