// Sampling through the torch engine, as the explorer does it: from Node, with log-probs.
import { drawn } from './cases.mjs'

/** Starts a worker with the model. */
export async function openOurs(folder) {
  const { TorchEngine } = await import(new URL('../../dist/engine.js', import.meta.url).href)
  const python = process.env.TRINITY_PYTHON ?? 'python3'
  const begin = performance.now()
  const engine = new TorchEngine({ devices: 1, python })
  let seq = 0
  const call = () => ({ seq: ++seq, deadlineMs: 600_000 })
  const sampler = await engine.openSample({ path: folder, seed: 1 }, call()).catch(async (error) => {
    await engine.close()
    throw error
  })
  const vocabulary = sampler.info.vocabSize
  const noise = (count) => Int32Array.from({ length: count }, () => Math.floor(Math.random() * vocabulary))
  return {
    started: (performance.now() - begin) / 1000,
    close: () => engine.close(),
    async run(one) {
      const { prompts, answers, prompt, response, turns, added, seed = 1 } = one
      let contexts = Array.from({ length: prompts }, () => noise(prompt))
      const more = Array.from({ length: turns - 1 }, () => contexts.map(() => noise(added)))
      const before = sampler.stats().cachedTokens
      let tokens = 0
      const start = performance.now()
      for (let turn = 0; turn < turns; turn++) {
        const found = await Promise.all(
          contexts.map((ids, i) => {
            const params = {
              temperature: 1,
              maxTokens: response,
              ignoreEos: true,
              seed: seed * 100_000 + turn * 1000 + i,
            }
            return sampler.sample({ prompt: ids, n: answers, params }, call())
          }),
        )
        for (const { tokens: said, logprobs } of found.flat()) {
          if (logprobs.length !== said.length) throw new Error('log-probs are missing')
          tokens += said.length
        }
        if (turn + 1 < turns) {
          contexts = contexts.map((old, i) => joined(old, found[i][0].tokens, more[turn][i]))
        }
      }
      const seconds = (performance.now() - start) / 1000
      if (tokens !== drawn(one)) throw new Error(`${tokens} tokens instead of ${drawn(one)}`)
      return { seconds, tokens, cached: sampler.stats().cachedTokens - before }
    },
  }
}

function joined(...parts) {
  const whole = new Int32Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}
