import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { modelOf, speaker } from '../../test/support/workflow-kit.js'
import { TrinityError } from '../base/error.js'
import { anyBody } from './bodies.fixture.js'
import { answerFold, backWire, questionWire } from './clients.fixture.js'
import { Speaking } from './dialect.fixture.js'
import { dialects } from './dialects.js'
import { keysOf } from './said.js'

const word = fc.constantFrom('a', ' ', '\n', 'é🙂', '<', '"', '</', '{}', '<tool_call>', 'x y')
const text = fc.array(word, { maxLength: 4 }).map((words) => words.join(''))
const short = fc.oneof(fc.integer(), fc.double({ noNaN: true }), text, fc.constantFrom(null, [1, { a: 'b' }], {}))
const call = fc
  .record({
    name: fc.constantFrom('add', 'look'),
    arguments: fc.dictionary(fc.string({ maxLength: 3 }), short, { maxKeys: 2 }),
  })
  .map((made) => `<tool_call>${JSON.stringify(made, null, 1)}</tool_call>`)
const written = fc
  .tuple(fc.option(text), fc.array(fc.oneof(text, call), { maxLength: 4 }))
  .map(([thought, parts]) => (thought === null ? '' : `<think>${thought}</think>\n\n`) + parts.join(''))
  .filter((raw) => raw.trim() !== '')

const chats = dialects.filter(({ name }) => name !== 'completions')
const limits = { maxModelLen: 1 << 15, truncatePrompts: false }

describe.each(chats.map((dialect) => [dialect.name, dialect] as const))('%s', (name, dialect) => {
  it('what a client sends back is what the model wrote; the stream is the whole', async () => {
    const trip = async (raw: string) => {
      const model = modelOf(await speaker((prompt) => (prompt.includes('more') ? 'end' : raw)), {
        limits,
        reasoningParser: 'think',
      })
      const speaking = new Speaking(dialect, model)
      const question = questionWire(name)
      const { reply, said, id } = await speaking.ask(question)
      const streamed = await speaking.ask({ ...question, stream: true, ...(name === 'chat' ? USAGE : {}) }, id)
      expect(answerFold(name, streamed.events)).toEqual(reply)
      const back = backWire(name, question, reply)
      const read = dialect.read(back, () => undefined).messages!
      expect(keysOf(read[1])).toEqual(keysOf(said))
      await speaking.ask(back)
      expect(model.stats.divergences).toBe(1) // the question was asked twice
      expect(model.conversation.experiences().at(-1)!.responseText).toContain(raw)
    }
    await fc.assert(fc.asyncProperty(written, trip), { numRuns: 25 })
  })
})

const USAGE = { stream_options: { include_usage: true } }

describe('fuzzed bodies', () => {
  it.each(dialects.map((dialect) => [dialect.name, dialect] as const))(
    '%s: answered or refused',
    async (name, dialect) => {
      const model = modelOf(await speaker(() => 'ok'))
      let answered = 0
      const attempt = async (change: Record<string, unknown>, whole: boolean) => {
        const body = whole ? { ...questionWire(name), ...change } : change
        try {
          await new Speaking(dialect, model).ask(body)
          answered++
        } catch (error) {
          expect(error).toBeInstanceOf(TrinityError)
        }
      }
      await fc.assert(fc.asyncProperty(anyBody, fc.boolean(), attempt), { numRuns: 250 })
      expect(answered).toBeGreaterThan(5)
    },
  )
})
