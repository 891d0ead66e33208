import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { withKeys } from '../../test/config-kit.js'
import { fixture } from '../../test/support/test-data.js'
import type { ExperienceBuffer } from '../buffer/index.js'
import { createExperience } from '../experience/create.js'
import { type ModelText, openModelText } from '../workflow/text.js'
import { openAuxiliaryBuffers, openMainBuffer } from './buffers.js'

const dir = mkdtempSync(join(tmpdir(), 'trinity-buffers-'))
let text: ModelText
beforeAll(async () => {
  text = await openModelText(fixture('tiny-qwen2'))
  const rows = ['{"prompt": "1+1=", "response": "2"}', '{"prompt": "2+2=", "response": "4"}']
  writeFileSync(join(dir, 'answers.jsonl'), rows.map((row) => `${row}\n`).join(''))
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const experience = createExperience({
  eid: { batch: 0, task: 0, run: 0, step: 0, suffix: '' },
  tokens: [1, 2, 3],
  promptLength: 1,
})
function needs(set: Record<string, unknown>, notes: string[] = []) {
  const config = withKeys({ name: 'n', project: 'p', checkpoint_root_dir: dir, ...set })
  return { config, text, note: (one: string) => void notes.push(one) }
}

describe('the buffer between explorer and trainer', () => {
  it('is a queue in memory for one process', async () => {
    const notes: string[] = []
    const buffer = await openMainBuffer(needs({}, notes))
    await buffer.put([experience])
    expect(notes).toEqual([])
    await buffer.close()
  })

  it('is its database for two, which see the same experiences', async () => {
    const notes: string[] = []
    const path = `sqlite:///${dir}/shared.db`
    const set = (mode: string) => ({
      mode,
      'buffer.train_batch_size': 1,
      'buffer.trainer_input.experience_buffer': { name: 'b', storage_type: 'queue', path },
    })
    const explorer = await openMainBuffer(needs(set('explore'), notes))
    const trainer = await openMainBuffer(needs(set('train'), notes))
    expect(notes).toHaveLength(2)
    expect(notes[0]).toContain('two processes share it through its database')
    await explorer.put([experience])
    const read = await trainer.take(1, { deadlineMs: 5000 })
    expect(read).toHaveLength(1)
    await explorer.close()
    await trainer.close()
  })
})

describe('a data set', () => {
  it.each([
    ['sft', { response_key: 'response' }],
    ['dpo', { chosen_key: 'response', rejected_key: 'prompt' }],
  ])('of schema %s keeps the end of every answer, whatever the limit of sampled responses', async (schema, keys) => {
    const experience_buffer = {
      name: 'answers',
      storage_type: 'file',
      path: join(dir, 'answers.jsonl'),
      schema_type: schema,
      format: { prompt_type: 'plaintext', prompt_key: 'prompt', ...keys },
    }
    const set = {
      'buffer.train_batch_size': 1,
      'model.max_model_len': 64,
      'model.max_response_tokens': 1,
      'model.max_prompt_tokens': 1,
    }
    const buffer = await openMainBuffer(
      needs({
        mode: 'train',
        'algorithm.algorithm_type': schema,
        'buffer.trainer_input': { experience_buffer },
        ...set,
      }),
    )
    const [experience] = await buffer.take(1)
    const answers =
      schema === 'dpo'
        ? [experience.chosen!, experience.rejected!]
        : [experience.tokens.subarray(experience.promptLength)]
    for (const answer of answers) expect(text.tokenizer.decode(answer, { skipSpecial: false })).toContain('<|im_end|>')
    expect(experience.truncateStatus).toBeUndefined()
    await buffer.close()
  })
})

describe('further data of the trainer', () => {
  it('is opened by name, read as training data, and gone through again and again', async () => {
    const kept: ExperienceBuffer[] = []
    const given = {
      'buffer.trainer_input.auxiliary_buffers': {
        expert: {
          storage_type: 'file',
          path: join(dir, 'answers.jsonl'),
          schema_type: 'sft',
          format: { prompt_type: 'plaintext', prompt_key: 'prompt', response_key: 'response' },
        },
      },
    }
    const { expert, ...others } = await openAuxiliaryBuffers(needs(given), (one) => void kept.push(one))
    expect([others, kept]).toEqual([{}, [expert]])
    const texts: (string | undefined)[] = []
    for (let i = 0; i < 3; i++) texts.push(...(await expert.take(2)).map((one) => one.responseText))
    expect(texts).toHaveLength(6)
    expect(texts.filter((one) => one?.startsWith('2'))).toHaveLength(3)
    await expert.close()
  })
})
