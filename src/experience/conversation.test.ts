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
  talk.count(found)
  talk.record(found, sample(answer, given), answer)
  return found
}

describe('a conversation', () => {
  it('tokenizes only what is new, and masks what the model wrote', () => {
    const talk = new Conversation()
    say(talk, 'Q1', 'AA')
    say(talk, 'Q1AAQ2', 'B')
    expect(talk.divergences).toBe(0)
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
    say(talk, 'Q1A', 'B')
    say(talk, 'Q1AAQ2', 'C', {}, 0.5)
    expect([talk.segments, talk.divergences]).toEqual([3, 2])
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
    expect([one.responseText, two.responseText]).toEqual(['AAQ2B', 'C'])
    expect([one.promptText, two.promptText]).toEqual(['Q1', 'Q1AAQ2'])
    expect([one.truncateStatus, two.truncateStatus]).toEqual([undefined, 'response_truncated'])
    expect([...one.actionMask]).toEqual([1, 1, 0, 0, 1])
    expect([...two.actionMask]).toEqual([1])
  })

  /** Which sequence learns which letters, with dashes for those of the prompt. */
  const learned = (talk: Conversation) =>
    talk.experiences().map(({ tokens, promptLength, actionMask }) => {
      const letters = [...tokens].map((token) => String.fromCharCode(token))
      return letters.map((letter, i) => (actionMask[i - promptLength] ? letter : '-')).join('')
    })

  it('learns an answer with four continuations once, in the first sequence', () => {
    const talk = new Conversation()
    say(talk, 'Q1', 'AA')
    for (const letter of 'BCDE') say(talk, 'Q1AAQ2', letter)
    say(talk, 'Q1AAQ2CQ3', 'F')
    say(talk, 'Q1AAQ2CQ4', 'G')
    expect(learned(talk)).toEqual(['--AA--B', '------C--F', '------D', '------E', '---------G'])
    expect(talk.experiences()).toEqual(talk.experiences())
  })

  it('learns the beginning once when the same is asked three times', () => {
    const talk = new Conversation()
    say(talk, 'Q1', 'AA')
    for (const letter of 'BBB') say(talk, 'Q1AAQ2', letter)
    expect(learned(talk)).toEqual(['--AA--B', '------B', '------B'])
    expect(talk.diverged.again).toBe(2)
  })

  it('learns the beginning in what is left when an answer is withdrawn', () => {
    const talk = new Conversation()
    say(talk, 'Q1', 'AA')
    const [first, second] = ['B', 'C'].map((letter) => {
      const answer = sample(letter)
      talk.record(talk.promptOf('Q1AAQ2', 1, encode), answer, letter)
      return answer
    })
    talk.withdraw(first)
    expect(learned(talk)).toEqual(['--AA--C'])
    say(talk, 'Q1AAQx', 'D')
    expect(learned(talk)).toEqual(['--AA--D', '------C'])
    talk.withdraw(second)
    expect(learned(talk)).toEqual(['--AA--D'])
  })

  it('learns an answer for each prompt it was recorded with', () => {
    const talk = new Conversation()
    const answer = sample('A')
    for (const prompt of ['hint Q', 'Q']) talk.record(talk.promptOf(prompt, 1, encode), answer, 'A')
    expect(learned(talk)).toEqual(['------A', '-A'])
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
    expect([prompt.from?.turns, prompt.text]).toEqual([1, 'Q1AAx'])
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

describe('a call that begins a sequence of its own', () => {
  it.each([
    ['beginning', 'Q0', 1],
    ['beginning', 'QzAAQ2', 1],
    ['answer', 'Q1AxQ2', 1],
    ['answer', 'Q1AAQ2BxQ3', 1],
    ['branch', 'Q1AAQx', 1],
    ['branch', 'Q1AAQ2BBQx', 1],
    ['again', 'Q1', 1],
    ['again', 'Q1AAQ2', 1],
    ['again', 'Q1A', 1],
    ['temperature', 'Q1AAQ2BBQ3CCQ4', 0.5],
  ])('is counted under %s: %s', (reason, prompt, temperature) => {
    const talk = new Conversation()
    say(talk, 'Q1', 'AA')
    say(talk, 'Q1AAQ2', 'BB')
    say(talk, 'Q1AAQ2BBQ3', 'CC')
    say(talk, prompt, 'D', {}, temperature)
    expect(talk.diverged).toEqual({ beginning: 0, answer: 0, branch: 0, again: 0, temperature: 0, [reason]: 1 })
    expect(talk.divergences).toBe(1)
  })

  it('is judged by the sequence that is nearest, also by one that grew meanwhile', () => {
    const talk = new Conversation()
    say(talk, 'sub-agent', 'x')
    say(talk, 'Q1', 'AA')
    const late = talk.promptOf('Q1AAQz', 1, encode)
    say(talk, 'Q1AAQ2', 'B')
    talk.count(late)
    talk.record(late, sample('C'), 'C')
    expect(talk.diverged).toMatchObject({ beginning: 1, branch: 1 })
    expect(talk.experiences().map(({ responseText }) => responseText)).toEqual(['x', 'AAQ2B', 'C'])
  })
})

describe('an answer that a stop string ended', () => {
  /** Says `answer`, of which those who asked see the first characters. */
  const stopped = (talk: Conversation, prompt: string, answer: string, seen: number) => {
    const found = talk.promptOf(prompt, 1, encode)
    talk.count(found)
    const said = sample(answer)
    talk.record(found, said, answer, undefined, { tokens: seen, text: seen })
    return said
  }
  const rows = (talk: Conversation) =>
    talk.experiences().map(({ tokens, actionMask, promptLength, promptText, responseText }) => {
      expect(`${promptText}${responseText}`).toBe(String.fromCharCode(...tokens))
      const all = [...tokens.subarray(promptLength)].map((token) => String.fromCharCode(token))
      return [promptText, all.map((letter, i) => (actionMask[i] ? letter : '-')).join('')]
    })

  it('is learned whole; the next turn goes on without what nobody saw, and every token is learned once', () => {
    const talk = new Conversation()
    stopped(talk, 'Q1;', 'AAstop!', 2)
    asked.length = 0
    stopped(talk, 'Q1;AA;Q2;', 'BBstop', 2)
    expect(asked.pop()).toBe(';Q2;')
    say(talk, 'Q1;AA;Q2;BB;Q3;', 'C')
    say(talk, 'Q1;AA;Q2;BB;Q3;C;Q4;', 'D')
    expect(rows(talk)).toEqual([
      ['Q1;', 'AAstop!'],
      ['Q1;AA;Q2;', 'BBstop'],
      ['Q1;AA;Q2;BB;Q3;', 'C----D'],
    ])
    expect(talk.divergences).toBe(0)
    const one = talk.whole()!
    expect(String.fromCharCode(...one.tokens)).toBe('Q1;AA;Q2;BB;Q3;C;Q4;D')
    expect([...one.actionMask].join('')).toBe('110000110000100001')
    expect(one.logprobs).toHaveLength(18)
  })

  it('is gone on from as a whole by who writes the stop string himself', () => {
    const talk = new Conversation()
    stopped(talk, 'Q1;', 'AAstop', 2)
    say(talk, 'Q1;AAstop it. ', 'B')
    expect(rows(talk)).toEqual([['Q1;', 'AAstop-----B']])
  })

  it('is a branch where somebody goes back to it, and stays when its reply is lost afterwards', () => {
    const talk = new Conversation()
    const first = stopped(talk, 'Q1;', 'AAstop', 2)
    say(talk, 'Q1;AA;Q2;', 'B')
    say(talk, 'Q1;AA;Qx;', 'C')
    talk.withdraw(first)
    expect(rows(talk)).toEqual([
      ['Q1;', 'AAstop'],
      ['Q1;AA;Q2;', 'B'],
      ['Q1;AA;Qx;', 'C'],
    ])
    expect(talk.whole()).toBeUndefined()
    expect(talk.diverged).toMatchObject({ branch: 1 })
    const lost = stopped(talk, 'Q1;AA;Q2;B;', 'Dstop', 1)
    talk.withdraw(lost)
    talk.withdraw(stopped(talk, 'Q1;AA;Qy;', 'E', 1))
    expect(talk.segments).toBe(3)
  })

  it('of which nothing was seen is left out', () => {
    const talk = new Conversation()
    stopped(talk, 'Q1;', 'stop', 0)
    say(talk, 'Q1;;Q2;', 'B')
    expect(rows(talk)).toEqual([
      ['Q1;', 'stop'],
      ['Q1;;Q2;', 'B'],
    ])
    expect(talk.divergences).toBe(0)
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
