// What is sampled, and the least time that it can take.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * `prompts` × `answers` of `response` tokens to prompts of `prompt` tokens. With `turns` each answer is followed by `added`
 * tokens and asked about again.
 */
export const cases = [
  { name: 'batch', shape: '1.5b', prompts: 64, answers: 8, prompt: 256, response: 512 },
  { name: 'turns', shape: '1.5b', prompts: 64, answers: 1, prompt: 200, response: 100, turns: 8, added: 200 },
  { name: 'alone', shape: '1.5b', prompts: 1, answers: 1, prompt: 256, response: 512 },
  { name: '8k-shared', shape: '1.5b', prompts: 16, answers: 8, prompt: 7680, response: 512 },
  { name: '8k-apart', shape: '1.5b', prompts: 64, answers: 1, prompt: 7680, response: 512 },
  { name: 'long', shape: '1.5b', prompts: 16, answers: 8, prompt: 256, response: 4096 },
  { name: 'batch-7b', shape: '7b', prompts: 64, answers: 8, prompt: 256, response: 512 },
].map((one) => ({ turns: 1, added: 0, ...one }))

/** The same in small, for a machine without a GPU. */
export function small(one) {
  const part = (count, by) => Math.max(1, Math.round(count / by))
  return {
    ...one,
    shape: 'tiny',
    prompts: part(one.prompts, 16),
    answers: part(one.answers, 4),
    prompt: part(one.prompt, 32),
    response: part(one.response, 32),
    turns: Math.min(one.turns, 3),
    added: part(one.added, 32),
  }
}

export function text({ prompts, answers, prompt, response, turns, added }) {
  const asked = turns > 1 ? `${turns} turns of ${added} + ${response}` : `${prompt} + ${response}`
  return `${prompts} × ${answers}, ${asked}`
}

/** The longest sequence. */
export function longest({ prompt, response, turns, added }) {
  return prompt + response + (turns - 1) * (added + response)
}

/** Tokens that are drawn. */
export function drawn({ prompts, answers, response, turns }) {
  return prompts * answers * response * turns
}

/**
 * Seconds that nothing can be faster than: in each step the larger of what must be read (weights and every key and value
 * once, those that answers share only once) at the rate of a copy, and of the matrix products as they were measured with
 * as many rows. Prompts: their products; what an earlier turn has computed is not computed again.
 */
export function bound(folder, one, ceilings) {
  const config = JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8'))
  const { hidden_size: hidden, num_hidden_layers: layers, num_attention_heads: heads } = config
  const kv = config.num_key_value_heads
  const size = config.head_dim ?? hidden / heads
  const layer = hidden * (2 * heads + 2 * kv) * size + 3 * hidden * config.intermediate_size
  const weights = 2 * (layers * layer + config.vocab_size * hidden)
  const aToken = 2 * 2 * layers * kv * size
  /** Operations of attention for one token and one of those before it. */
  const pair = 4 * layers * heads * size
  const { prompts, answers, response, turns, added } = one
  const rows = prompts * answers
  let [reading, computing, least] = [0, 0, 0]
  for (let turn = 0, context = one.prompt, fresh = one.prompt; turn < turns; turn++) {
    const pairs = prompts * fresh * (context - fresh / 2)
    const begin = prompts * fresh * ceilings.prompts + (pairs * pair) / ceilings.rate
    computing += begin
    least += begin
    // the first token of an answer is drawn where its prompt ends
    for (let made = 1; made < response; made++) {
      const read = (weights + (prompts * context + rows * made) * aToken) / ceilings.copy
      const computed = ceilings.steps[rows] + (rows * (context + made) * pair) / ceilings.rate
      reading += read
      computing += computed
      least += Math.max(read, computed)
    }
    context += response + added
    fresh = added
  }
  return { reading, computing, least }
}
