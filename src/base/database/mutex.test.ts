import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { Mutex } from './mutex.js'

it('lets one in at a time, in the order of asking, also after a failure', async () => {
  const mutex = new Mutex()
  const seen: string[] = []
  const turn = (name: string, ms: number, fails = false) =>
    mutex.run(async () => {
      seen.push(`${name} in`)
      await sleep(ms)
      seen.push(`${name} out`)
      if (fails) throw new Error(name)
      return name
    })
  const results = await Promise.allSettled([turn('a', 8), turn('b', 1, true), turn('c', 0)])
  expect(seen).toEqual(['a in', 'a out', 'b in', 'b out', 'c in', 'c out'])
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
})
