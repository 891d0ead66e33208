import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { CallOrder } from './calls.js'

const call = (seq: number, deadlineMs = 1000, signal?: AbortSignal) => ({ seq, deadlineMs, signal })

describe('CallOrder', () => {
  it('answers a repeated seq with the first result and does the work once', async () => {
    const order = new CallOrder('m')
    let done = 0
    const work = async () => ++done
    expect(await Promise.all([order.run(call(1), 'step', work), order.run(call(1), 'step', work)])).toEqual([1, 1])
    expect(await order.run(call(2), 'step', work)).toBe(2)
    await expect(order.run(call(1), 'step', work)).rejects.toMatchObject({ code: 'engine/stale-call' })
    expect(done).toBe(2)
  })

  it('repeats a failure too, and goes on after it', async () => {
    const order = new CallOrder('m')
    const fail = async () => {
      throw new Error('no')
    }
    await expect(order.run(call(1), 'x', fail)).rejects.toThrow('no')
    await expect(order.run(call(1), 'x', async () => 5)).rejects.toThrow('no')
    expect(await order.run(call(2), 'x', async () => 5)).toBe(5)
  })

  it('never overlaps two calls, even when the first missed its deadline', async () => {
    const order = new CallOrder('m')
    const events: string[] = []
    const slow = order.run(call(1, 10), 'slow', async () => {
      await sleep(60)
      events.push('slow ended')
    })
    await expect(slow).rejects.toMatchObject({ code: 'engine/deadline' })
    await order.run(call(2), 'next', async () => void events.push('next began'))
    expect(events).toEqual(['slow ended', 'next began'])
  })

  it('hands on an abort', async () => {
    const order = new CallOrder('m')
    const control = new AbortController()
    const waiting = order.run(call(1, 1e12, control.signal), 'wait', (signal) => sleep(5000, undefined, { signal }))
    control.abort()
    await expect(waiting).rejects.toMatchObject({ name: 'AbortError' })
  })
})
