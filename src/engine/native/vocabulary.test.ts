import { expect, it } from 'vitest'
import { loadAddon } from './addon.js'
import { random, tinyConfig, tinyModel } from './tiny.fixture.js'

const addon = loadAddon()
const VOCAB = 32_000

/**
 * Gradient of the final norm's weight from one scored token, by the engine and in float64. The layers add nothing, so
 * the state under the norm is the embedding of the token before. Eight words have nearly all of the probability; each of
 * the others is below the last bit of their sum, and all of them together are not.
 */
async function gradients() {
  const config = tinyConfig({ vocab: VOCAB, hidden: 64, layers: 1 })
  const model = await tinyModel(config)
  for (const { name, rows, cols } of addon.params(model)) {
    if (/o_proj|down_proj/.test(name)) await addon.write(model, name, 'weight', new Float32Array(rows * cols))
  }
  const [width, token, target] = [config.hidden, 17, 3]
  const weight = (name: string) => addon.read(model, name, 'weight')
  const x = (await weight('model.embed_tokens.weight')).subarray(token * width, (token + 1) * width)
  const scale = 1 / Math.sqrt(x.reduce((sum, v) => sum + v * v, 0) / width + config.eps)
  const gain = await weight('model.norm.weight')
  const state = Array.from(x, (v, c) => v * scale * gain[c])
  const size = state.reduce((sum, v) => sum + v * v, 0)
  const next = random(3)
  const head = new Float32Array(VOCAB * width)
  for (let i = 0; i < head.length; i++) {
    head[i] = 0.5 + (next() + next() - 1) * 0.1 + (i < 8 * width ? (17 * state[i % width]) / size : 0)
  }
  await addon.write(model, 'lm_head.weight', 'weight', head)
  const pack = {
    ids: Int32Array.of(token, target),
    lengths: Int32Array.of(2),
    rows: Int32Array.of(0),
    targets: Int32Array.of(target),
    invT: Float32Array.of(1),
  }
  await addon.forward(model, pack, true, true)
  await addon.backward(model, { logprob: Float32Array.of(1) })
  const got = await addon.read(model, 'model.norm.weight', 'gradient')
  await addon.close(model)

  const logits = Float64Array.from({ length: VOCAB }, (_, v) =>
    state.reduce((sum, h, c) => sum + h * head[v * width + c], 0),
  )
  const most = logits.reduce((a, b) => Math.max(a, b))
  const lse = most + Math.log(logits.reduce((sum, z) => sum + Math.exp(z - most), 0))
  const exact = new Float64Array(width)
  for (let v = 0; v < VOCAB; v++) {
    const d = (v === target ? 1 : 0) - Math.exp(logits[v] - lse)
    for (let c = 0; c < width; c++) exact[c] += d * head[v * width + c] * x[c] * scale
  }
  return { got, exact }
}

const norm = (x: ArrayLike<number>) => Math.sqrt(Array.from(x).reduce((sum, v) => sum + v * v, 0))

it('the whole vocabulary counts in the gradient of a log-prob', async () => {
  const { got, exact } = await gradients()
  const error = norm(Array.from(got, (g, c) => g - exact[c])) / norm(exact)
  expect(error).toBeLessThan(5e-5)
})
