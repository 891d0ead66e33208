import { describe, expect, it } from 'vitest'
import { broadcast } from './broadcast.js'
import type { WeightReceiver, WeightSender } from './contract.js'

const call = { seq: 1, deadlineMs: 5000 }

/** Members that write down what they are asked. */
function group(faults: { hold?: string; receive?: string; sum?: string } = {}) {
  const log: string[] = []
  const sender: WeightSender = {
    protocol: 'p',
    offer: async (size) => ({ size }),
    join: async ({ size }, rank) => void log.push(`sender joins as ${rank} of ${size}`),
    send: async () => 'same',
  }
  const receiver = (name: string): WeightReceiver => ({
    protocol: 'p',
    join: async (_, rank) => void log.push(`${name} joins as ${rank}`),
    hold: async (inFlight) => {
      if (faults.hold === name) throw new Error(`${name} cannot hold`)
      log.push(`${name} holds, ${inFlight}`)
    },
    receive: async () => {
      if (faults.receive === name) throw new Error(`${name} lost it`)
      return faults.sum === name ? 'other' : 'same'
    },
    commit: async (version) => void log.push(`${name} goes on with ${version ?? 'what it had'}`),
  })
  return { log, sender, to: [receiver('a'), receiver('b')] }
}

describe('a broadcast of weights', () => {
  it('reaches everybody, and joins the group once', async () => {
    const { log, sender, to } = group()
    const standing = { joined: false }
    expect(await broadcast(sender, to, 1, 'finish', call, standing)).toBe('same')
    expect(log).toEqual([
      ...['a holds, finish', 'b holds, finish'],
      ...['sender joins as 0 of 3', 'a joins as 1', 'b joins as 2'],
      ...['a goes on with 1', 'b goes on with 1'],
    ])
    log.length = 0
    await broadcast(sender, to, 2, 'abort', call, standing)
    expect(log).toEqual(['a holds, abort', 'b holds, abort', 'a goes on with 2', 'b goes on with 2'])
  })

  it.each([
    ['one cannot stop', { hold: 'a' }, /a cannot hold/, ['b goes on with what it had']],
    [
      'one receives nothing',
      { receive: 'b' },
      /b lost it/,
      ['a goes on with what it had', 'b goes on with what it had'],
    ],
    [
      'one receives something else',
      { sum: 'b' },
      /differ from those that were sent/,
      ['a goes on with what it had', 'b goes on with what it had'],
    ],
  ])('changes nobody where %s', async (_, faults, message, ends) => {
    const { log, sender, to } = group(faults)
    const standing = { joined: false }
    await expect(broadcast(sender, to, 1, 'finish', call, standing)).rejects.toThrowError(message)
    expect(log.filter((line) => line.includes('goes on'))).toEqual(ends)
    expect(standing.joined).toBe(false)
  })
})
