import { describe, expect, it } from 'vitest'
import { modelOf, speaker } from '../../test/support/workflow-kit.js'
import { readingOf } from './answer.js'
import type { ChatArgs } from './chat-args.js'
import { obeyingStops } from './dialect.fixture.js'
import type { Answering } from './dialect.js'
import { partStream, type Streamed } from './part-stream.js'

const messages = [{ role: 'user', content: 'hello' }]

describe('partStream', () => {
  it('holds stop strings back, also those that the model has by default', async () => {
    for (const [args, defaults] of [
      [{ stop: 'END' }, {}],
      [{}, { stop: ['x', 'END'] }],
    ] as [ChatArgs, ChatArgs][]) {
      const model = modelOf(obeyingStops(await speaker(() => 'yes EN END no')), { defaults })
      const answering: Answering = (onText, signal) => model.answers(messages, args, onText, signal)
      const parts: Streamed[] = []
      for await (const one of partStream(model, answering, readingOf(model, false, 'x'), args)) parts.push(one)
      const text = parts.map((one) => ('part' in one && one.part.type === 'text' ? one.part.text : '')).join('')
      expect(text).toBe('yes EN ')
      expect(parts.at(-1)).toMatchObject({ answer: { text, finish: 'stop', stoppedBy: 'END' } })
    }
  })

  it('fails where new weights began the answer again', async () => {
    const model = modelOf(await speaker(() => 'yes'))
    const answering: Answering = async (onText, signal) => {
      for (const token of model.tokenizer.encode('no')) onText(0, token, 0)
      return model.answers(messages, {}, onText, signal)
    }
    const read = async () => {
      for await (const _ of partStream(model, answering, readingOf(model, false, 'x'), {}));
    }
    await expect(read()).rejects.toMatchObject({ code: 'engine/aborted' })
  })

  it('gives the error of the sampling before anything else', async () => {
    const model = modelOf(await speaker(() => 'yes'))
    const answering: Answering = async () => {
      throw new Error('no engine')
    }
    const stream = partStream(model, answering, readingOf(model, false, 'x'), {})
    await expect(stream.next()).rejects.toThrow('no engine')
  })
})
