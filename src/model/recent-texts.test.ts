import { expect, it } from 'vitest'
import { RecentTexts } from './recent-texts.js'

const text = (letter: string, length = 1 << 18) => letter.repeat(length)

it('gives what was added as a copy, and forgets what was not asked for longest', () => {
  const recent = new RecentTexts()
  for (const [i, letter] of [...'abcd'].entries()) recent.add(text(letter), Int32Array.of(i))
  recent.get(text('a'))!.fill(9)
  expect(recent.get(text('a'))).toEqual(Int32Array.of(0))
  recent.add(text('e'), Int32Array.of(4))
  expect(recent.get(text('b'))).toBeUndefined()
  expect([...'acde'].map((letter) => recent.get(text(letter))?.[0])).toEqual([0, 2, 3, 4])
})

it('keeps neither short texts nor one that would push out all others', () => {
  const recent = new RecentTexts()
  for (const length of [63, 64, 1 << 19, (1 << 19) + 1]) recent.add(text('a', length), Int32Array.of(length))
  const known = (length: number) => recent.get(text('a', length))?.[0]
  expect([63, 64, 1 << 19, (1 << 19) + 1].map(known)).toEqual([undefined, 64, 1 << 19, undefined])
})
