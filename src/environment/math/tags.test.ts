import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readTags } from './tags.js'

describe('readTags', () => {
  it.each<[string, ReturnType<typeof readTags>]>([
    ['<think>a</think><answer> 4 </answer>', { thinks: true, answer: '4' }],
    ['<THINK>a\nb</Think>\n<Answer>\n4\n</ANSWER> and more', { thinks: true, answer: '4' }],
    ['<answer>4</answer>', { thinks: false, answer: '4' }],
    ['<think>is it <answer>3</answer>?</think><answer>4</answer><answer>5</answer>', { thinks: true, answer: '4' }],
    ['<think>a</think>\nSo:\nAnswer: 4', { thinks: true, answer: '4' }],
    ['<think>Answer: 3</think>', { thinks: true, answer: undefined }],
    ['<think>a</think><answer></answer>', { thinks: true, answer: undefined }],
    ['<think>a <answer>4', { thinks: false, answer: undefined }],
    ['', { thinks: false, answer: undefined }],
  ])('%j', (reply, expected) => {
    expect(readTags(reply)).toEqual(expected)
  })

  it('finds any answer that has no tags in it', () => {
    const plain = fc.string().filter((text) => !/[<]|answer:/i.test(text) && text.trim() !== '')
    fc.assert(
      fc.property(plain, plain, (thought, answer) => {
        expect(readTags(`<think>${thought}</think>${thought}<answer>${answer}</answer>`)).toEqual({
          thinks: true,
          answer: answer.trim(),
        })
      }),
    )
  })

  it('is not slow on what somebody made to be slow', () => {
    const start = performance.now()
    for (const text of ['<think>', '<answer>', '<think></think>', 'answer:\n', ' ']) readTags(text.repeat(100_000))
    expect(performance.now() - start).toBeLessThan(10_000)
  })
})
