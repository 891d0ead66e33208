import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { testData } from '../../test/support/test-data.js'
import { FileBuffer } from '../buffer/file/file-buffer.js'
import type { ExperienceBufferConfig, Given } from '../config/index.js'
import { Chat } from '../model/chat.js'
import type { ChatCoder } from './format/index.js'
import { TrainingData } from './training-data.js'

let dir: string
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'trinity-test-'))
})
afterAll(() => rm(dir, { recursive: true, force: true }))

const bytes: ChatCoder = {
  encode: () => new Int32Array(0),
  encodeWithMask: () => ({ tokens: new Int32Array(0), mask: new Uint8Array(0), promptLength: 0 }),
  tokenizer: {
    encode: (text) => Int32Array.from(Buffer.from(text)),
    decode: (ids) => Buffer.from([...ids]).toString(),
  },
}

describe('training data', () => {
  it('reads rows as experiences, in an order that can be restored', async () => {
    const path = join(dir, 'text.jsonl')
    await writeFile(path, Array.from({ length: 9 }, (_, i) => JSON.stringify({ prompt: `text ${i}` })).join('\n'))
    const config: Given<ExperienceBufferConfig> = {
      path,
      schema_type: 'cpt',
      format: { prompt_type: 'plaintext' },
      data_selector: { selector_type: 'shuffle' },
    }
    const one = await TrainingData.open(config, bytes)
    const two = await TrainingData.open(config, bytes)
    one.order.next(4)
    two.order.load(JSON.parse(JSON.stringify(one.order.save())))
    const rows = one.order.next(11)
    expect(two.order.next(11)).toEqual(rows)
    const [first] = await one.read(rows)
    expect(Buffer.from(first.tokens).toString()).toBe(`text ${rows[0]}`)
    expect(first.eid.task).toBe(rows[0])
    await Promise.all([one.close(), two.close()])
  })

  it('serves as the source of a file buffer: batches, end of data, exact resume', async () => {
    const path = join(dir, 'buffer.jsonl')
    await writeFile(path, Array.from({ length: 7 }, (_, i) => JSON.stringify({ prompt: `text ${i}` })).join('\n'))
    const config: Given<ExperienceBufferConfig> = {
      path,
      schema_type: 'cpt',
      format: { prompt_type: 'plaintext' },
      data_selector: { selector_type: 'shuffle' },
    }
    const open = async () => {
      const source = await TrainingData.open(config, bytes)
      return new FileBuffer({ name: 'sft', source, order: source.order, total: () => 2 * source.length })
    }
    const rest = async (buffer: FileBuffer) => {
      const seen: unknown[] = []
      for (let batch = await buffer.take(3); batch.length > 0; batch = await buffer.take(3)) {
        seen.push(...batch.map(({ eid }) => eid.task))
      }
      await buffer.close()
      return seen
    }
    const one = await open()
    await one.take(3)
    const cut = JSON.parse(JSON.stringify(await one.cut()))
    const two = await open()
    await two.restore(cut)
    const wanted = await rest(one)
    expect(wanted.length).toBe(9)
    expect(await rest(two)).toEqual(wanted)
  })

  it('names row, file and line of what does not fit', async () => {
    const path = join(dir, 'bad.jsonl')
    await writeFile(path, '{"prompt":"long enough"}\n\n{"text":"x"}\n')
    const data = await TrainingData.open({ path, schema_type: 'cpt', format: { prompt_type: 'plaintext' } }, bytes)
    await expect(data.read([0, 1])).rejects.toMatchObject({
      code: 'task/row',
      message: "row 1: the row has no text: no column 'prompt'",
      path: `${path}:3`,
      hint: 'columns: text',
    })
    await data.close()
  })
})

const { path: model, absent, note } = testData('models/minimind2_small_hf')
const fixtures = testData('trinity_fixtures').path
describe.skipIf(absent)(`real data with a real tokenizer${note}`, () => {
  const cases: [string, Given<ExperienceBufferConfig>][] = [
    ['sft_for_gsm8k', { schema_type: 'sft', format: { prompt_type: 'plaintext' } }],
    ['sft_with_tools', { schema_type: 'sft', format: { messages_key: 'messages' } }],
    [
      'sft_with_tools',
      { schema_type: 'sft', format: { messages_key: 'messages', enable_concatenated_multi_turn: true } },
    ],
    ['qwenpaw_sft', { schema_type: 'sft', format: { messages_key: 'messages', enable_concatenated_multi_turn: true } }],
    ['human_like', { schema_type: 'dpo', format: { prompt_type: 'plaintext' } }],
  ]
  it.each(cases)('%s as %j', async (name, config) => {
    const chat = await Chat.load(model)
    const data = await TrainingData.open({ ...config, path: join(fixtures, name) }, chat)
    const experiences = await data.read(Array.from({ length: data.length }, (_, i) => i))
    for (const experience of experiences) {
      const answers = experience.type === 'dpo' ? [experience.chosen, experience.rejected] : [experience.actionMask]
      expect(answers.every((answer) => answer?.some((value) => value > 0))).toBe(true)
      expect(experience.promptText).toContain('assistant')
      expect(experience.truncateStatus).toBeUndefined()
    }
    await data.close()
  })

  it('learns exactly the answer', async () => {
    const chat = await Chat.load(model)
    const path = join(fixtures, 'sft_for_gsm8k')
    const data = await TrainingData.open({ path, schema_type: 'sft', format: { prompt_type: 'plaintext' } }, chat)
    const [experience] = await data.read([0])
    const answer = experience.messages?.at(-1)?.content as string
    expect(experience.responseText?.startsWith(answer.trim())).toBe(true)
    expect(experience.promptText?.endsWith('assistant\n')).toBe(true)
    await data.close()
  })
})
