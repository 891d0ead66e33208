import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { answerVerifiers } from './answer/registry.js'
import { prepareReward } from './prepare.js'
import { lastConfidence, parseRlcr } from './rlcr.js'

const chain = (answer: string, confidence: string) =>
  `<think>t</think>\n<answer>${answer}</answer>\n<analysis>a</analysis>\n<confidence>${confidence}</confidence>\n`

async function parts(response: string, args = {}) {
  return (await prepareReward('rlcr_reward', args)({ response, truth: '36' })).parts
}

describe('parseRlcr', () => {
  it('reads a chain, also after other text', () => {
    const expected = { think: 't', answer: '36', analysis: 'a', confidence: 0.8 }
    expect(parseRlcr(chain('36', '0.8'))).toEqual(expected)
    expect(parseRlcr(`Well. ${chain('36', ' .8 ')}`)).toEqual(expected)
  })

  it.each([
    [5, 'response_not_string'],
    ['<think>', 'unbalanced_tags'],
    ['</think>', 'unbalanced_tags'],
    ['<think><answer></think></answer>', 'crossed_tags'],
    ['<think><answer></answer></think>', 'nested_tags'],
    ['<think></think>', 'missing_tag'],
    ['<answer></answer><think></think><analysis></analysis><confidence>1</confidence>', 'wrong_order'],
    [`${chain('1', '1')}<think></think>`, 'wrong_order'],
    ['<think></think> so <answer></answer><analysis></analysis><confidence>1</confidence>', 'inter_tag_junk'],
    [`${chain('1', '1')} bye`, 'trailing_junk'],
    [chain('1', ''), 'confidence_empty'],
    [chain('1', 'high'), 'confidence_non_numeric'],
    [chain('1', '0x1'), 'confidence_non_numeric'],
    [chain('1', 'inf'), 'confidence_non_finite'],
    [chain('1', '1e999'), 'confidence_non_finite'],
    [chain('1', '1.5'), 'confidence_out_of_range'],
    [chain('1', '-0.1'), 'confidence_out_of_range'],
    [chain('1', '-0'), 'confidence_out_of_range'],
    [chain('1', '-1e-400'), 'confidence_out_of_range'],
    [chain('1', '1.00000000000000000001'), 'confidence_out_of_range'],
  ])('%s: %s', (response, failure) => {
    expect(parseRlcr(response)).toEqual({ failure })
  })

  it('never throws', () => {
    const tags = ['think', 'answer', 'analysis', 'confidence'].flatMap((name) => [`<${name}>`, `</${name}>`])
    const text = fc.array(fc.constantFrom(...tags, '0.5', ' ', 'x')).map((list) => list.join(''))
    fc.assert(
      fc.property(text, (value) => {
        const read = parseRlcr(value)
        const confidence = lastConfidence(value)
        if (!('failure' in read)) expect(read.confidence).toBe(confidence)
      }),
    )
  })
})

describe('rlcr_reward', () => {
  it('correct with confidence 0.8 is worth 1.480008', async () => {
    const { reward } = await prepareReward('rlcr_reward')({ response: chain('36', '0.8'), truth: '36' })
    expect(reward).toBeCloseTo(1.480008, 12)
  })

  it('wrong with confidence 1: format, and the mark of an extreme', async () => {
    const expected = { format: 0.5, accuracy: 0, brier: 0, mean_confidence: 1e-5, confidence_one_or_zero: 1e-5 }
    expect(await parts(chain('35', '1'))).toEqual(expected)
  })

  it('an invalid chain keeps only what the last confidence says', async () => {
    const expected = { format: 0, accuracy: 0, brier: 0, mean_confidence: 5e-6, confidence_one_or_zero: 0 }
    expect(await parts(`${chain('36', '0.5')} and more`)).toEqual(expected)
    expect(await parts('nothing')).toEqual({ ...expected, mean_confidence: 0 })
  })

  it.each([
    '<confidence><confidence>1</confidence>',
    '</confidence><confidence>1</confidence>',
    '<confidence>1</confidence><confidence>',
    '<confidence>1</confidence><confidence>0.7',
    '<confidence>-0</confidence>',
    '<confidence>1.00000000000000000001</confidence>',
  ])('%s earns nothing', async (response) => {
    expect((await prepareReward('rlcr_reward')({ response, truth: '36' })).reward).toBe(0)
  })

  it('weights are all five or none, and finite', async () => {
    const weights = { format: 1, accuracy: 2, brier: 0, mean_confidence: 0, confidence_one_or_zero: 0 }
    expect(await parts(chain('36', '0.5'), { weights })).toMatchObject({ format: 1, accuracy: 2, brier: 0 })
    expect(() => prepareReward('rlcr_reward', { weights: { format: 1 } })).toThrow('weights')
    expect(() => prepareReward('rlcr_reward', { weights: { ...weights, brier: Infinity } })).toThrow('weights')
  })

  it('takes a verifier; one that fails gives no reward', async () => {
    expect(await parts(chain('36.0', '0.5'), { verifier: 'text' })).toMatchObject({ accuracy: 0 })
    const verify = () => {
      throw new Error('service is down')
    }
    answerVerifiers.add('test_failing', { doc: 'a service that is down', verify })
    await expect(parts(chain('36', '0.5'), { verifier: 'test_failing' })).rejects.toMatchObject({
      code: 'reward/verifier-failed',
    })
  })
})
