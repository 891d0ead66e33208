import { describe, expect, it } from 'vitest'
import { tiny } from '../../../../test/support/native-sampler.js'
import { Tokenizer } from '../../../model/tokenizer.js'
import { StopStrings } from './stop.js'

const tokenizer = await Tokenizer.load(tiny)
const special = Array.from({ length: 87 }, (_, id) => id).find((id) => tokenizer.isSpecial(id))!
const name = tokenizer.tokenText(special)!
const plain = [...tokenizer.encode('ab')]

/** What every token completes. */
function feed(stops: string[], tokens: number[]) {
  const stop = new StopStrings(stops, tokenizer)
  return tokens.map((token) => stop.push(token))
}

describe('stop strings', () => {
  it('are not found inside the names of special tokens', () => {
    expect(name.length).toBeGreaterThan(2)
    const inside = name.slice(1, -1)
    expect(feed([inside], [special, ...plain])).toEqual([undefined, ...plain.map(() => undefined)])
  })

  it('are a special token where they are its whole name', () => {
    expect(feed(['never', name], [...plain, special]).at(-1)).toBe(name)
  })

  it('are found in the text on both sides of a special token, which is none', () => {
    expect(plain.length).toBeGreaterThan(1)
    const found = feed(['ab'], [...plain.slice(0, -1), special, plain.at(-1)!])
    expect(found.at(-1)).toBe('ab')
  })

  it('that begin first are named', () => {
    const tokens = [...tokenizer.encode('abc')]
    const found = feed(['bc', 'abc'], tokens).find((one) => one !== undefined)
    expect(found).toBe('abc')
  })
})
