import { blocks } from '../../machine/doctor/check.js'
import type { Caps } from '../contract.js'
import type { EngineDescription } from '../description.js'
import { tooLarge } from './fit.js'
import { idleKeys, nativeOptions } from './options.js'
import { isTiny } from './tiny.js'

export const nativeCaps: Caps = {
  train: true,
  sample: true,
  reward: true,
  heads: ['lm', 'value', 'reward'],
  lora: true,
  logprobs: 'model',
  drawnLogprobs: true,
  promptLogprobs: true,
  allowedTokens: true,
  streaming: true,
  abort: true,
  batchInvariant: true,
  weights: ['memory', 'checkpoint'],
  replicas: false,
}

export const native: EngineDescription = {
  name: 'native',
  doc: "transformers on this machine's processor, in this process; no Python, no GPU",
  roles: ['train', 'sample', 'score', 'reward'],
  caps: nativeCaps,
  weights: nativeCaps.weights,
  // the split that a file asks for is planned too, so that the file can be tried without GPUs
  gpus: 'plans',
  // a processor works at full speed from about this many tokens on; fewer leave it waiting between matrices
  leastTokens: 1024,
  preference: (facts, config) => (facts.gpus > 0 && isTiny(config, facts) ? 3 : 1),
  why(facts, config) {
    if (facts.gpus === 0) return 'no GPU here'
    return isTiny(config, facts) ? 'a GPU would be slower for so small a model' : 'no PyTorch environment here'
  },
  ignores: idleKeys,
  refuses: tooLarge,
  longest: ({ maxPositions }) => maxPositions,
  open: async (config) => new (await import('./engine.js')).NativeEngine(nativeOptions(config)),
  verdict(checks) {
    const blocked = checks.filter(blocks)
    if (blocked.length === 0) return { ready: true, why: 'in this process, on the CPU; no Python needed' }
    const why = blocked.map((check) => `${check.name}: ${check.found}`).join('; ')
    return { ready: false, why, fix: blocked[0].fix }
  },
}
