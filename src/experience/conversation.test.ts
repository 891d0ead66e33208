import { describe, expect, it } from 'vitest'
import type { Sample } from '../engine/contract.js'
import { Conversation, joined, versionFields } from './conversation.js'

/** One token for each character, so that what is tokenized again can be counted. */
const asked: string[] = []
const encode = (text: string) => {
  asked.push(text)
  return Int32Array.from(text, (character) => character.charCodeAt(0))
}
const sample = (text: string, given: Partial<Sample> = {}): Sample =>
  ({
    tokens: Int32Array.from(text, (character) => character.charCodeAt(0)),
    logprobs: new Float32Array(text.length).fill(-0.5),
    finish: 'stop',
    versions: [{ version: 1, from: 0 }],
    ...given,
  }) as Sample

function say(talk: Conversation, prompt: string, answer: string, given: Partial<Sample> = {}, temperature = 1) {
  asked.length = 0
  const found = talk.promptOf(prompt, temperature, encode)
  talk.record(found, sample(answer, given), answer)
  return found
}

describe('a conversation', () => {
  it('tokenizes only what is new, and masks what the model wrote', () => {
    const talk = new Conversation()
    say(talk, 'Q1', 'AA')
    expect(say(talk, 'Q1AAQ2', 'B').diverged).toBe(false)
    expect(asked).toEqual(['Q2'])
    const [experience, ...others] = talk.experiences()
    expect(others).toEqual([])
    expect([experience.promptText, experience.responseText]).toEqual(['Q1', 'AAQ2B'])
    expect([...experience.actionMask]).toEqual([1, 1, 0, 0, 1])
    expect(experience.logprobs && [...experience.logprobs]).toEqual([-0.5, -0.5, 0, 0, -0.5])
  })

  it('begins anew where the text, or the temperature, is another', () => {
    const talk = new Conversation()
    say(talk, 'Q1', 'AA')
    expect(say(talk, 'Q1A', 'B').diverged).toBe(true)
    expect(say(talk, 'Q1AAQ2', 'C', {}, 0.5).diverged).toBe(true)
    expect(talk.segments).toBe(3)
    talk.clear()
    expect(talk.segments).toBe(0)
  })

  it('branches where one prompt has several answers', () => {
    const talk = new Conversation()
    say(talk, 'Q1', 'AA')
    const prompt = talk.promptOf('Q1AAQ2', 1, encode)
    talk.record(prompt, sample('B'), 'B')
    talk.record(prompt, sample('C', { finish: 'length' }), 'C')
    const [one, two] = talk.experiences()
    expect([one.responseText, two.responseText]).toEqual(['AAQ2B', 'AAQ2C'])
    expect([one.truncateStatus, two.truncateStatus]).toEqual([undefined, 'response_truncated'])
    expect([...two.actionMask]).toEqual([1, 1, 0, 0, 1])
  })

  it('goes on from tokens, too', () => {
    const talk = new Conversation()
    say(talk, 'Q1', 'AA')
    const decode = (tokens: Int32Array) => String.fromCharCode(...tokens)
    const prompt = talk.promptOfTokens(
      Int32Array.from('Q1AAx', (c) => c.charCodeAt(0)),
      1,
      decode,
    )
    expect([prompt.from?.turns, prompt.diverged, prompt.text]).toEqual([1, false, 'Q1AAx'])
  })

  it('knows which weights wrote what', () => {
    const talk = new Conversation()
    say(talk, 'Q1', 'AA', { versions: [{ version: 4, from: 0 }] })
    say(talk, 'Q1AAQ2', 'BB', {
      versions: [
        { version: 4, from: 0 },
        { version: 5, from: 1 },
      ],
    })
    const [{ modelVersion, versions }] = talk.experiences()
    expect(modelVersion).toBe(4)
    expect(versions).toEqual([
      { version: 4, from: 0 },
      { version: 5, from: 5 },
    ])
  })
})

it('one version needs no spans, and none is version 0', () => {
  expect(versionFields([{ version: 7, from: 0 }])).toEqual({ modelVersion: 7, versions: undefined })
  expect(versionFields([]).modelVersion).toBe(0)
  expect(joined(Int32Array.of(1), Int32Array.of(2, 3))).toEqual(Int32Array.of(1, 2, 3))
})

describe('an answer that nobody got', () => {
  const encode = (text: string) => Int32Array.from(text, (letter) => letter.charCodeAt(0))
  const sampled = (text: string): Sample => ({
    tokens: encode(text),
    logprobs: new Float32Array(text.length),
    finish: 'stop',
    versions: [],
    cachedTokens: 0,
  })
  const say = (conversation: Conversation, prompt: string, text: string) => {
    const sample = sampled(text)
    conversation.record(conversation.promptOf(prompt, 1, encode), sample, text)
    return sample
  }

  it('is taken back; what was said before it stays, and can be gone on from', () => {
    const conversation = new Conversation()
    say(conversation, 'q', 'a')
    const lost = say(conversation, 'qa;r', 'b')
    conversation.withdraw(lost)
    say(conversation, 'qa;r', 'c')
    const [one, ...more] = conversation.experiences()
    expect(more).toEqual([])
    expect(String.fromCharCode(...one.tokens)).toBe('qa;rc')
    expect([...one.actionMask]).toEqual([1, 0, 0, 1])
    expect(conversation.divergences).toBe(0)
  })

  it('leaves nothing where nothing else was said, and stays where somebody went on from it', () => {
    const conversation = new Conversation()
    conversation.withdraw(say(conversation, 'q', 'a'))
    expect(conversation.segments).toBe(0)
    const first = say(conversation, 'q', 'a')
    say(conversation, 'qa;', 'b')
    conversation.withdraw(first)
    expect(conversation.experiences().map(({ tokens }) => String.fromCharCode(...tokens))).toEqual(['qa;b'])
  })
})
