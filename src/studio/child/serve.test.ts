import { expect, it } from 'vitest'
import { TrinityError } from '../../base/error.js'
import { here } from './serve.js'

const worker = here({
  count: async ({ to }: { to: number }, tell) => {
    for (let i = 1; i <= to; i++) tell({ i })
    return { sum: (to * (to + 1)) / 2 }
  },
  fail: async () => {
    throw new TrinityError('model/none', 'there is none', { path: 'x', hint: 'make one' })
  },
})

it('work that is asked for tells its parts, then its result', async () => {
  const heard: number[] = []
  const onPart = ({ i }: { i: number }) => void heard.push(i)
  expect(await worker.ask('count', { to: 3 }, { onPart })).toEqual({ sum: 6 })
  expect(heard).toEqual([1, 2, 3])
})

it('an error arrives with what it says to do', async () => {
  await expect(worker.ask('fail', {})).rejects.toMatchObject({
    code: 'model/none',
    message: 'there is none',
    hint: 'make one',
  })
})
