import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { tempDir } from '../../test/support/temp-dir.js'
import { createModel } from '../model/create.js'
import { Closers } from '../run/closers.js'
import { type NewConversation, openOneModel } from '../run/one-model.js'
import { answer, converse } from './converse.js'
import { Talk, type TalkOptions } from './talk.js'

let open: NewConversation
const closers = new Closers()
const never = new AbortController().signal

beforeAll(async () => {
  const model = join(await tempDir(), 'model')
  await createModel({ out: model, layers: 1, hidden: 16, heads: 2, maxPositions: 128, tokenizer: { kind: 'bytes' } })
  const context = { note() {}, signal: never, closers }
  open = await openOneModel({ model, temperature: 1, maxTokens: 8, seed: 3 }, context)
})
afterAll(() => closers.close())

const talk = (options?: TalkOptions) => new Talk('m', open, options)

it('a reply comes in pieces, and belongs to what is said next', async () => {
  const [one, other] = [talk(), talk()]
  const pieces: string[] = []
  const { text, end } = await one.say('hello', (piece) => void pieces.push(piece))
  expect(pieces.join('')).toBe(text)
  expect(['stop', 'length']).toContain(end)
  expect(await other.say('hello')).toMatchObject({ text })
  const next = await one.say('and now?')
  expect(next.text).not.toBe((await talk().say('and now?')).text)
  one.undo()
  expect(one.undo()).toBe(true)
  expect(one.undo()).toBe(false)
})

it('what is too long has not been said', async () => {
  const one = talk({ system: 'be brief' })
  expect(await one.say('x'.repeat(300))).toMatchObject({ end: 'full', text: '' })
  expect(one.undo()).toBe(false)
  expect((await one.say('x')).end).not.toBe('full')
})

it('takes a question back that the chat template refuses', async () => {
  const model = join(await tempDir(), 'model')
  const endless = '{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}'
  const wrong = "{% if last == 'wrong' %}{{ raise_exception('no such word') }}{% endif %}"
  const chatTemplate = `{% set last = messages[-1].content %}{% if last == 'hang' %}${endless}{% endif %}${wrong}{{ last }}`
  await createModel({ out: model, layers: 1, hidden: 16, heads: 2, maxPositions: 128, chatTemplate })
  const context = { note() {}, signal: never, closers }
  const one = new Talk('m', await openOneModel({ model, temperature: 1, maxTokens: 8, seed: 3 }, context))
  const written: string[] = []
  const desk = { write: (text: string) => void written.push(text), ask() {}, answering: () => never, width: 80 }
  const lines = (async function* () {
    yield* ['hang', 'wrong', 'hello']
  })()
  await converse([one], { ...desk, lines })
  expect(written.join('').match(/^\(.*taken back\)$/gm)).toEqual([
    '(chat template model/tokenizer.json exceeds a limit: more than 1,000,000 steps: the question was taken back)',
    '(the chat template takes no such messages: no such word: the question was taken back)',
  ])
  expect(one.undo()).toBe(true)
  expect(one.undo()).toBe(false)
  await expect(answer([one], 'hang', desk)).rejects.toMatchObject({ code: 'template/limit' })
})

it('says what a reply was cut by', async () => {
  expect(await talk().say('hello')).toMatchObject({ end: 'length', context: 128 })
  const one = talk({ plain: true })
  expect(await one.say('x'.repeat(124))).toMatchObject({ end: 'context', context: 128 })
  const written: string[] = []
  const desk = { write: (text: string) => void written.push(text), ask() {}, answering: () => never, width: 80 }
  const typed = ['y'.repeat(300), 'x'.repeat(120), 'y'.repeat(300)]
  await converse([talk()], {
    ...desk,
    lines: (async function* () {
      yield* typed
    })(),
  })
  expect(written.join('').match(/^\(.*\)$/gm)).toEqual([
    '(this does not fit into the context of 128 tokens: ask something shorter)',
    '(cut: the context of 128 tokens is full; :reset makes room)',
    '(this does not fit into the context of 128 tokens: :reset forgets what was said)',
  ])
  await expect(answer([talk()], 'y'.repeat(300), desk)).rejects.toMatchObject({
    message: 'the question does not fit into the context of 128 tokens',
    hint: expect.stringContaining('ask something shorter'),
  })
})

it('tokens come with their probability and that of others', async () => {
  const { tokens } = await talk({ alternatives: 2, plain: true }).say('abc')
  expect(tokens.length).toBeGreaterThan(0)
  for (const { probability, others } of tokens) {
    expect(others).toHaveLength(2)
    expect(others[0].probability).toBeGreaterThanOrEqual(others[1].probability)
    expect(probability + others[0].probability + others[1].probability).toBeLessThanOrEqual(1.00001)
  }
})

it('a person talks, commands and stops an answer', async () => {
  const written: string[] = []
  let answers = 0
  const desk = {
    lines: (async function* () {
      yield* [
        'hello',
        ':undo',
        ':undo',
        ':temp 0',
        ':temp x',
        '',
        'again',
        ':nothing',
        ':sys You are a pirate.',
        ':help',
      ]
      yield* ['stop this', ':reset', ':quit', 'not heard']
    })(),
    write: (text: string) => void written.push(text),
    ask() {},
    answering: () => (++answers === 3 ? AbortSignal.abort(new Error('enough')) : never),
    width: 80,
  }
  await converse([talk()], desk)
  const text = written.join('')
  expect(answers).toBe(3)
  for (const part of [
    'taken back',
    'nothing has been said',
    'give a number',
    'there is no command :nothing',
    ':temperature',
    'these are the rules now',
    '(stopped',
    'forgotten\n',
  ]) {
    expect(text).toContain(part)
  }
})
