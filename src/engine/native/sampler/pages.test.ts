import { describe, expect, it } from 'vitest'
import { PagePool } from './pages.js'

const tokens = (...parts: number[]) => Int32Array.from(parts)

describe('the page pool', () => {
  it('finds pages by their tokens and all that came before', () => {
    const pool = new PagePool(4, 2)
    const [a, b] = [pool.take(), pool.take()]
    const text = tokens(1, 2, 3, 4)
    const first = pool.remember(a, 0, text, 0)
    const second = pool.remember(b, first, text, 2)
    expect(pool.find(0, text, 0)).toBe(a)
    expect(pool.find(first, text, 2)).toBe(b)
    expect(pool.find(0, text, 2)).toBe(-1)
    expect(pool.find(0, tokens(1, 3), 0)).toBe(-1)
    expect(pool.chainOf(b)).toBe(second)
  })

  it('keeps what nobody uses until memory is needed, then drops the longest unused', () => {
    const pool = new PagePool(2, 2)
    const [a, b] = [pool.take(), pool.take()]
    pool.remember(a, 0, tokens(1, 1), 0)
    pool.remember(b, 0, tokens(2, 2), 0)
    expect(pool.take()).toBe(-1)
    pool.release(b)
    pool.release(a)
    expect(pool.available).toBe(2)
    pool.keep(pool.find(0, tokens(2, 2), 0))
    expect(pool.used).toBe(1)
    expect(pool.take()).toBe(a)
    expect(pool.find(0, tokens(1, 1), 0)).toBe(-1)
    expect(pool.find(0, tokens(2, 2), 0)).toBe(b)
  })

  it('forgets everything when the weights change, in use or not', () => {
    const pool = new PagePool(3, 1)
    const [a, b] = [pool.take(), pool.take()]
    pool.remember(a, 0, tokens(1), 0)
    pool.remember(b, 0, tokens(2), 0)
    pool.release(a)
    pool.forget()
    expect(pool.find(0, tokens(1), 0)).toBe(-1)
    expect(pool.find(0, tokens(2), 0)).toBe(-1)
    pool.release(b)
    expect(pool.available).toBe(3)
    expect(new Set([pool.take(), pool.take(), pool.take()]).size).toBe(3)
    expect(pool.take()).toBe(-1)
  })

  it('has one page for many users', () => {
    const pool = new PagePool(1, 1)
    const page = pool.take()
    pool.keep(page)
    pool.release(page)
    expect(pool.available).toBe(0)
    pool.release(page)
    expect(pool.available).toBe(1)
  })
})
